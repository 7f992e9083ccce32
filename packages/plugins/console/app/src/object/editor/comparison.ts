import { yaml } from "@codemirror/lang-yaml";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { basicSetup, EditorView } from "codemirror";
import { look } from "./look.ts";

interface ComparisonOptions {
  readonly root: ShadowRoot;
  readonly before: { readonly text: string; readonly label: string };
  readonly after: { readonly text: string; readonly label: string };
  /** Two texts side by side, instead of one with both. */
  readonly isWide: boolean;
}

const common: readonly Extension[] = [basicSetup, yaml(), look, EditorView.lineWrapping, EditorState.readOnly.of(true)];
const config = {
  collapseUnchanged: { margin: 3, minSize: 6 },
  gutter: true,
  // Large texts get a coarse comparison instead of a page that hangs.
  diffConfig: { scanLimit: 2_000, timeout: 400 },
};

/** Shows what differs between two texts. Returns a function that removes it. */
export function createComparison({ root, before, after, isWide }: ComparisonOptions): () => void {
  const named = (label: string) => EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" });
  if (isWide) {
    const view = new MergeView({
      root,
      parent: root,
      a: { doc: before.text, extensions: [...common, named(before.label)] },
      b: { doc: after.text, extensions: [...common, named(after.label)] },
      ...config,
    });
    return () => view.destroy();
  }
  const unified = unifiedMergeView({ original: before.text, mergeControls: false, ...config });
  const view = new EditorView({
    root,
    parent: root,
    doc: after.text,
    extensions: [...common, named(after.label), unified],
  });
  return () => view.destroy();
}
