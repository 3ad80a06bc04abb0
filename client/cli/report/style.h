// The style sheet of a report: colours of fidelities by class (l0 is the highest), for light, dark and print.
#ifndef FIDELIO_CLIENT_CLI_REPORT_STYLE_H_
#define FIDELIO_CLIENT_CLI_REPORT_STYLE_H_

namespace fidelio::cli {

inline constexpr char kStyle[] = R"css(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#18202b;--soft:#566273;--grid:#e6e9ee;--edge:#c3cad4;
--good:#0d6b4f;--goodback:#e4f5ee;--bad:#97310a;--badback:#fdeee4;--c0:#0a5fc2;--c1:#c2570c;--c2:#0d7d68;--c3:#8a45bd;
--c4:#a8234f;--c5:#5d6672;--neutralback:#eef1f5}
@media (prefers-color-scheme:dark){:root{--page:#10151c;--card:#182029;--ink:#e7ecf2;--soft:#a3afbd;--grid:#2a3440;
--edge:#48566a;--good:#7fe0bd;--goodback:#12312a;--bad:#ffb48a;--badback:#3a2015;--c0:#6db3ff;--c1:#ffa05c;--c2:#4fd3b4;
--c3:#cda2ff;--c4:#ff8fb1;--c5:#aab4c0;--neutralback:#222c38}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main,header,footer{max-width:900px;margin:0 auto;padding:0 16px}
header{padding-top:26px}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:1.22rem;margin:0 0 6px}
h3{font-size:.95rem;font-weight:600;margin:2px 0 4px;overflow-wrap:anywhere}
p{margin:0 0 12px;max-width:75ch;overflow-wrap:anywhere}
.sub,.note,footer{color:var(--soft);font-size:.88rem}
section{background:var(--card);border:1px solid var(--grid);border-radius:12px;padding:18px 18px 14px;margin:0 0 18px}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:10px 18px;margin:16px 0}
.facts dt{color:var(--soft);font-size:.8rem}
.facts dd{margin:0;font-weight:600;overflow-wrap:anywhere}
.facts dd small{font-weight:400;color:var(--soft)}
.verdict{border-radius:10px;padding:10px 14px;margin:0 0 12px;max-width:none}
.good{background:var(--goodback)}.good b{color:var(--good)}
.bad{background:var(--badback)}.bad b{color:var(--bad)}
.neutral{background:var(--neutralback)}.warning{margin:6px 0 0}.warning b,.neutral .warning b{color:var(--bad)}
.missing{color:var(--soft);font-style:italic}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,235px),1fr));gap:12px 16px}
.larger{grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr))}
.pair{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));gap:12px 22px}
.wide{max-width:720px}
.panel{min-width:0;break-inside:avoid}
svg{display:block;width:100%;height:auto}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:.88rem;align-items:center}
.legend span,td.left{white-space:nowrap}
.legend svg,td svg{display:inline-block;width:auto;height:14px;vertical-align:-2px;margin-right:5px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{padding:4px 12px 4px 0;text-align:right;border-bottom:1px solid var(--grid)}
th{color:var(--soft);font-weight:600}.left{text-align:left}
text{fill:var(--soft);font-size:11px;font-family:inherit}
.name{font-size:12px;fill:var(--ink)}.mid{text-anchor:middle}.end{text-anchor:end}
.grid{stroke:var(--grid);fill:none}.axis{stroke:var(--edge);fill:none}
.l0{--c:var(--c0)}.l1{--c:var(--c1)}.l2{--c:var(--c2)}.l3{--c:var(--c3)}.l4{--c:var(--c4)}.l5{--c:var(--c5)}
.band{fill:var(--c)}.b95{fill-opacity:.15}.b50{fill-opacity:.22}
.curve{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}.lower{stroke-dasharray:5 3;stroke-width:1.6}
.median{stroke-dasharray:1.5 3.5;stroke-linecap:round}
.thin{stroke-width:1.5}
.dot{fill:var(--c);stroke:var(--card);stroke-width:1}
.cloud{fill:var(--c);fill-opacity:.32}.strong{fill-opacity:.5}
.whisker{stroke:var(--c);stroke-opacity:.45;stroke-width:1.4}
.rug{stroke:var(--c);stroke-opacity:.5}
.column{fill:var(--c);fill-opacity:.62}
.next{stroke:var(--c);stroke-dasharray:2 2;stroke-width:1.2}.number{fill:var(--c);font-size:10px;font-weight:700}
.halo{paint-order:stroke;stroke:var(--card);stroke-width:3px;stroke-linejoin:round}
.centre{stroke:var(--soft);stroke-dasharray:1 3}
.diagonal,.promised{stroke:var(--ink);stroke-width:1.3;fill:none}
.expected{fill:var(--soft);fill-opacity:.2}
.onmap{fill:#fff;stroke:#111;stroke-width:1}.small{fill-opacity:.75;stroke-width:.6}
.nextonmap{fill:#111;stroke:#fff;stroke-width:1.2}.numberonmap{fill:#fff;font-size:9.5px;font-weight:700}
.bar{max-width:300px;margin-top:4px}
footer{padding-top:2px;padding-bottom:30px}
@media (hover:none){.hover{display:none}}
@media (min-width:720px){.wide text{font-size:8px}.wide .name{font-size:8.5px}.pair text{font-size:9.8px}
.pair .name{font-size:10.2px}.larger text{font-size:9.5px}.larger .name{font-size:10px}}
@media (max-width:560px){.wide text{font-size:12.5px}body{font-size:15px}section{padding:14px 12px 10px}.facts{grid-template-columns:1fr 1fr}}
@media print{:root{color-scheme:light;--page:#fff;--card:#fff;--ink:#000;--soft:#444}body{font-size:11pt}
section{border:0;padding:0;margin:0 0 14pt}h2{break-after:avoid}.scroll{overflow:visible}}
)css";

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_REPORT_STYLE_H_
