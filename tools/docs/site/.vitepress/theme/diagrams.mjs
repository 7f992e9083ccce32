// Why: diagrams are written as Mermaid and drawn in the browser by Mermaid itself, which the site has with it. Without scripts the text
// remains, which can be read. Only pages with a diagram load it.

const SOURCE = "data-mermaid";
/** Width at which labels wrap, in pixels: fewer lines than Mermaid's 200. */
const WIDE = { wrappingWidth: 340 };
let drawn = 0;

/** Draws the diagrams of the page, again when light and dark change. @param {{ base: string, dark: boolean }} site */
export async function drawDiagrams({ base, dark }) {
  const diagrams = document.querySelectorAll(`.vp-doc [${SOURCE}]`);
  if (diagrams.length === 0) return;
  const { default: mermaid } = await import(/* @vite-ignore */ `${base}mermaid/mermaid.esm.min.js`);
  const fontFamily = getComputedStyle(document.body).fontFamily;
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: dark ? "dark" : "neutral",
    fontFamily,
    flowchart: WIDE,
  });
  for (const diagram of diagrams) {
    const { svg } = await mermaid.render(`diagram-${++drawn}`, diagram.getAttribute(SOURCE));
    diagram.innerHTML = svg;
    diagram.querySelector("svg")?.setAttribute("role", "img");
    diagram.querySelector("svg")?.setAttribute("aria-label", `Diagram: ${diagram.getAttribute(SOURCE)}`);
  }
}
