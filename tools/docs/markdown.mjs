// Why: authors write Markdown as GitHub shows it. VitePress makes each page a template of Vue, in which `{{ }}` and `<name>` mean something:
// here they are text, and headings have the anchors that GitHub gives them.

/** GitHub's anchor of a heading. @param {string} heading */
export const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .replace(/ /g, "-");

/** The anchors that typedoc puts into tables. */
const ANCHOR = /^<a id="([\w-]+)"><\/a>/;

/** @param {any} md a MarkdownIt */
export function plain(md) {
  md.disable("emoji", true);
  const { text } = md.renderer.rules;
  md.renderer.rules.text = (/** @type {any[]} */ ...args) => text(...args).replaceAll("{{", "&#123;&#123;");
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (/** @type {any[]} */ ...args) => {
    const [tokens, at] = args;
    const { info, content } = tokens[at];
    if (info.trim() !== "mermaid") return fence(...args);
    const text = md.utils.escapeHtml(content);
    return `<div class="diagram" v-pre data-mermaid="${text}"><pre>${text}</pre></div>\n`;
  };
  md.inline.ruler.before("autolink", "typedoc_anchor", (/** @type {any} */ state, /** @type {boolean} */ silent) => {
    const [anchor, id] = ANCHOR.exec(state.src.slice(state.pos)) ?? [];
    if (anchor === undefined) return false;
    if (!silent) state.push("typedoc_anchor", "", 0).content = id;
    state.pos += anchor.length;
    return true;
  });
  md.renderer.rules.typedoc_anchor = (/** @type {any[]} */ tokens, /** @type {number} */ at) =>
    `<a id="${tokens[at].content}"></a>`;
}
