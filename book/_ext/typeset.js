// Formulas as they are read: a line {"tex", "display"} in, a line of HTML or of an error
// out, both JSON. The argument is the folder of MathJax.
"use strict";

const root = process.argv[2];
const lines = require("node:readline").createInterface({ input: process.stdin });

require(`${root}/node-main.js`).init({
  loader: { paths: { mathjax: root }, load: ["input/tex-full", "output/svg", "a11y/assistive-mml"] },
  tex: { packages: { "[-]": ["noundefined"] } },
  svg: { fontCache: "none" },
}).then((MathJax) => {
  lines.on("line", (line) => {
    const { tex, display } = JSON.parse(line);
    const html = MathJax.startup.adaptor.outerHTML(MathJax.tex2svg(tex, { display }));
    const wrong = html.match(/data-mjx-error="([^"]*)"/);
    console.log(JSON.stringify(wrong ? { wrong: wrong[1] } : { html }));
  });
});
