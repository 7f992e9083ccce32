import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { EditorView } from "codemirror";

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--good)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.meta, tags.labelName, tags.typeName], color: "var(--warning)" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--muted)" },
]);

const mix = (color: string, share: number) => `color-mix(in srgb, var(${color}) ${share}%, transparent)`;
const TEXT = { whiteSpace: "pre-wrap", overflowWrap: "anywhere", fontFamily: "system-ui, sans-serif" };

/** Colors and sizes as in the rest of the page, in both schemes: its custom properties reach into the shadow root. */
export const look = [
  syntaxHighlighting(colors),
  EditorView.theme({
    "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "12.5px" },
    // Above the gutters, which would cover a part of an outline.
    "&.cm-focused": { outline: "none" },
    "&.cm-focused::after": {
      ...{ content: '""', position: "absolute", inset: "0", zIndex: "201", pointerEvents: "none" },
      border: "2px solid var(--accent)",
    },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
    ".cm-content": { caretColor: "var(--text)" },
    ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
    ".cm-gutters": { backgroundColor: "var(--page)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
    ".cm-activeLine": { backgroundColor: mix("--selected", 35) },
    ".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--text)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
      backgroundColor: `${mix("--accent", 30)} !important`,
    },
    ".cm-selectionMatch": { backgroundColor: mix("--accent", 18) },
    ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: mix("--good", 25) },
    ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", borderColor: "var(--line)", color: "var(--muted)" },
    ".cm-tooltip": {
      backgroundColor: "var(--raised)",
      color: "var(--text)",
      border: "1px solid var(--line)",
      borderRadius: "6px",
      boxShadow: "0 4px 16px rgb(0 0 0 / 25%)",
    },
    ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "15em" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--selected)", color: "var(--text)" },
    ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", marginLeft: "1em" },
    ".cm-completionMatchedText": { color: "var(--accent)", textDecoration: "none", fontWeight: "700" },
    ".cm-completionInfo, .cm-field-help": { ...TEXT, padding: "6px 10px", maxWidth: "min(420px, 80vw)" },
    ".cm-field-help b": { fontFamily: "var(--mono)", marginRight: "8px" },
    ".cm-field-help span": { color: "var(--muted)" },
    ".cm-diagnostic": TEXT,
    ".cm-diagnostic-error": { borderLeftColor: "var(--danger)" },
    ".cm-diagnostic-warning": { borderLeftColor: "var(--warning)" },
    ".cm-panels": { backgroundColor: "var(--page)", color: "var(--text)", borderColor: "var(--line)" },
    ".cm-textfield, .cm-button": {
      backgroundImage: "none",
      backgroundColor: "var(--surface)",
      borderColor: "var(--control)",
      color: "var(--text)",
    },
    ".cm-panel.cm-search [name=close]": { color: "var(--text)" },
    ".cm-panel.cm-panel-lint ul [aria-selected]": { backgroundColor: "var(--selected)", color: "var(--text)" },
    ".cm-changedLine, &.cm-merge-b .cm-changedLine": { backgroundColor: mix("--good", 14) },
    "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: mix("--danger", 14) },
    "&.cm-merge-b .cm-changedText": { background: mix("--good", 30) },
    "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": { background: mix("--danger", 30) },
    ".cm-collapsedLines": { background: "var(--hover)", color: "var(--muted)", padding: "2px 5px" },
    ".cm-collapsedLines::before, .cm-collapsedLines::after": { content: '"…"' },
  }),
];
