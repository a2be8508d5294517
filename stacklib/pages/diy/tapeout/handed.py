"""A submission to a shared chip that breaks no rule: what readers and tests change."""

PINS = "\n".join(
    f'  {group}[{n}]: "{"pin" * (n == 0)}"'
    for group in ("ui", "uo", "uio")
    for n in range(8)
)
INFO = f"""
# Tiny Tapeout project information
project:
  title:        "Serial MAC"      # Project title
  author:       "A. Reader"
  discord:      ""
  description:  "A multiplier with a sum: behind #5 pins"
  language:     "Verilog"
  clock_hz:     10000000
  tiles: "1x1"                    # one
  top_module:  "tt_um_reader_mac"
  source_files:
    - "tile.v"
    - "mac.v"

pinout:
{PINS}
yaml_version: 6
"""
TILE = """
`default_nettype none
/* the top: (module of a submission) */
module tt_um_reader_mac (
    input  wire [7:0] ui_in,    // Dedicated inputs
    output wire [7:0] uo_out,
    input  wire [7:0] uio_in,
    output wire [7:0] uio_out,
    output wire [7:0] uio_oe,
    input  wire       ena,
    input  wire       clk,
    input  wire       rst_n
);
  wire reset = !rst_n;
  reg [6:0] total;
  assign uo_out[6:0] = total;
  assign uo_out[7] = 0;
  assign uio_out = 8'b0;
  assign uio_oe  = 0;
  always @(posedge clk) begin
    if (reset) total <= 0;
    else if (ui_in[0]) total <= total + ui_in[7:1];
  end
  wire _unused = &{ena, uio_in, 1'b0};
endmodule
"""
