"""Networks as graphs: routes, loads, cuts and cost; schedules run over them."""
