import { autocompletion } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { type Diagnostic, forceLinting, linter, lintGutter } from "@codemirror/lint";
import { Annotation, type ChangeSpec, Compartment, EditorState, Prec, StateEffect } from "@codemirror/state";
import { keymap, tooltips } from "@codemirror/view";
import { basicSetup, EditorView } from "codemirror";
import { checkAgainst } from "../schema/check.ts";
import type { FieldSchema } from "../schema/schema.ts";
import { parseText, type TextProblem } from "../yaml/parse.ts";
import { completeFields } from "./completion.ts";
import { fieldHelp } from "./field-help.ts";
import { look } from "./look.ts";

interface EditorOptions {
  /** A shadow root: there the editor's styles need no `<style>` element, which the content security policy forbids. */
  readonly root: ShadowRoot;
  readonly text: string;
  /** Name for screen readers. */
  readonly label: string;
  readonly isReadOnly: boolean;
  /** Whether the text is the YAML of one object, to be checked. */
  readonly isChecked: boolean;
  onChange(text: string): void;
  onSubmit(): void;
  /** Called after each check. */
  onProblems(problems: readonly LineProblem[]): void;
}

/** A problem, and its line, from 1. */
export interface LineProblem extends TextProblem {
  readonly line: number;
}

export interface Editor {
  setText(text: string): void;
  setReadOnly(isReadOnly: boolean): void;
  setWrapping(isOn: boolean): void;
  setSchema(schema: FieldSchema | undefined): void;
  /** Problems that the server has found. A change of the text removes them. */
  setProblems(problems: readonly TextProblem[]): void;
  focus(offset?: number): void;
  destroy(): void;
}

/** Marks changes that do not come from the user. */
const fromPage = Annotation.define<boolean>();
/** The schema, or what the server says, has changed: the text is to be checked again. */
const checkAgain = StateEffect.define<undefined>();

/** An editor of YAML, with completion and checks by a schema. */
export function createEditor(options: EditorOptions): Editor {
  const { root, label } = options;
  let schema: FieldSchema | undefined;
  let ofServer: readonly TextProblem[] = [];
  const [readOnly, wrapping] = [new Compartment(), new Compartment()];
  const check = ({ state }: EditorView): Diagnostic[] => {
    const { document, value, problems } = parseText(state.doc.toString());
    const ofSchema = schema && document && value ? checkAgainst(document, schema) : [];
    const end = state.doc.length;
    // The page names problems that keep it from sending the text, too.
    const others = ofServer.filter((one) => !problems.some(({ message }) => message === one.message));
    const lineOf = ({ from }: TextProblem) => state.doc.lineAt(Math.min(from, end)).number;
    const linesOfServer = new Set(others.map(lineOf));
    // The server says the same of these lines, in more detail.
    const own = ofSchema.filter((one) => !linesOfServer.has(lineOf(one)));
    const found = [...problems, ...own, ...others].map((one): LineProblem => {
      const start = Math.min(one.from, end);
      return { ...one, from: start, to: Math.max(start, Math.min(one.to, end)), line: lineOf(one) };
    });
    const sorted = onceEach(found.sort((one, other) => one.from - other.from));
    options.onProblems(sorted);
    return sorted.map(({ from, to, severity, message }) => ({ from, to, severity, message }));
  };
  const checks = [
    linter(check, {
      delay: 400,
      needsRefresh: ({ transactions }) => transactions.some(({ effects }) => effects.some((one) => one.is(checkAgain))),
    }),
    lintGutter(),
    autocompletion({ override: [completeFields(() => schema)], icons: false }),
    fieldHelp(() => schema),
  ];
  const run = () => {
    options.onSubmit();
    return true;
  };
  const submit = keymap.of([{ key: "Mod-s", preventDefault: true, run }]);
  const view = new EditorView({
    root,
    parent: root,
    doc: options.text,
    extensions: [
      Prec.highest(submit),
      basicSetup,
      yaml(),
      look,
      wrapping.of([]),
      tooltips({ position: "fixed" }),
      readOnly.of(EditorState.readOnly.of(options.isReadOnly)),
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
      EditorState.tabSize.of(2),
      options.isChecked ? checks : [],
      EditorView.updateListener.of(({ docChanged, transactions, state }) => {
        if (!docChanged) return;
        ofServer = [];
        if (transactions.some((one) => one.annotation(fromPage) === true)) return;
        options.onChange(state.doc.toString());
      }),
    ],
  });
  const again = () => {
    view.dispatch({ effects: checkAgain.of(undefined) });
    forceLinting(view);
  };
  return {
    setText(text) {
      const changes = smallestChange(view.state.doc.toString(), text);
      if (changes !== undefined) view.dispatch({ changes, annotations: fromPage.of(true) });
    },
    setReadOnly(isReadOnly) {
      view.dispatch({ effects: readOnly.reconfigure(EditorState.readOnly.of(isReadOnly)) });
    },
    setWrapping(isOn) {
      view.dispatch({ effects: wrapping.reconfigure(isOn ? EditorView.lineWrapping : []) });
    },
    setSchema(next) {
      schema = next;
      again();
    },
    setProblems(problems) {
      ofServer = problems;
      again();
    },
    focus(offset) {
      view.focus();
      if (offset === undefined) return;
      const anchor = Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor }, scrollIntoView: true });
    },
    destroy: () => view.destroy(),
  };
}

/** Problems with the same text in the same line once. */
const onceEach = (problems: readonly LineProblem[]): readonly LineProblem[] =>
  [...new Map(problems.toReversed().map((one) => [`${one.line} ${one.message}`, one])).values()].toReversed();

/** Replaces only what differs, so that the cursor and what is scrolled stay where they are. */
function smallestChange(before: string, after: string): ChangeSpec | undefined {
  if (before === after) return undefined;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let end = 0;
  const isSameFromEnd = () => before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end);
  while (end < most - start && isSameFromEnd()) end++;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
