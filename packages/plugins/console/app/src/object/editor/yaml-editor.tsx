import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { texts } from "../../texts.ts";
import type { FieldSchema } from "../schema/schema.ts";
import type { TextProblem } from "../yaml/parse.ts";
import type { Editor, LineProblem } from "./code-mirror.ts";
import { shadowOf } from "./shadow.ts";
import { yamlTexts } from "./texts.ts";

interface YamlEditorProps {
  /** A signal, since a text of an earlier render would undo what has been typed since. */
  readonly text: ReadonlySignal<string>;
  /** Name for screen readers. */
  readonly label: string;
  readonly isReadOnly?: boolean;
  /** Whether the text is the YAML of one object, to be checked. */
  readonly isChecked?: boolean;
  readonly schema?: FieldSchema | undefined;
  /** Problems that the server has found in this text. */
  readonly problems?: readonly TextProblem[];
  readonly onChange?: (text: string) => void;
  /** The editor takes the focus each time this grows. */
  readonly focusRequests?: number;
  /** The user wants to go on: Ctrl+S. */
  readonly onSubmit?: () => void;
}

/** Whether long lines are wrapped, in all editors. */
const isWrapping = signal(false);

export const WrapSwitch = () => (
  <label class="check">
    <input
      type="checkbox"
      checked={isWrapping.value}
      onChange={({ currentTarget }) => {
        isWrapping.value = currentTarget.checked;
      }}
    />
    {yamlTexts.wrap}
  </label>
);

const NONE: readonly TextProblem[] = [];

/** An editor of YAML. Its program is loaded when the first one is shown. */
export function YamlEditor(props: YamlEditorProps) {
  const { text, isReadOnly = false, schema, problems = NONE, focusRequests = 0 } = props;
  const host = useRef<HTMLDivElement>(null);
  const last = useRef(props);
  last.current = props;
  const [editor, setEditor] = useState<Editor>();
  const [hasFailed, setFailed] = useState(false);
  const [found, setFound] = useState<readonly LineProblem[]>([]);
  useEffect(() => {
    let created: Editor | undefined;
    let isEnded = false;
    import("./code-mirror.ts").then(
      ({ createEditor }) => {
        if (isEnded || host.current === null) return;
        const { text, label, isReadOnly = false, isChecked = false } = last.current;
        created = createEditor({
          root: shadowOf(host.current),
          text: text.peek(),
          label,
          isReadOnly,
          isChecked,
          onChange: (changed) => last.current.onChange?.(changed),
          onSubmit: () => last.current.onSubmit?.(),
          onProblems: setFound,
        });
        setEditor(created);
      },
      () => setFailed(true),
    );
    return () => {
      isEnded = true;
      created?.destroy();
    };
  }, []);
  useEffect(() => effect(() => editor?.setText(text.value)), [editor, text]);
  useEffect(() => editor?.setReadOnly(isReadOnly), [editor, isReadOnly]);
  useEffect(() => effect(() => editor?.setWrapping(isWrapping.value)), [editor]);
  useEffect(() => editor?.setSchema(schema), [editor, schema]);
  useEffect(() => {
    if (focusRequests > 0) editor?.focus();
  }, [editor, focusRequests]);
  useEffect(() => {
    editor?.setProblems(problems);
    const [first] = problems;
    if (first !== undefined) editor?.focus(first.from);
  }, [editor, problems]);
  return (
    <div class="editor">
      {editor === undefined && <p class="muted">{hasFailed ? texts.object.notLoaded : texts.loading}</p>}
      <div class="editor-host" ref={host} />
      <Problems found={found} onChoose={({ from }) => editor?.focus(from)} />
    </div>
  );
}

/** Problems that are listed at most. */
const MOST = 50;

interface ProblemsProps {
  readonly found: readonly LineProblem[];
  readonly onChoose: (problem: LineProblem) => void;
}

/** The problems of a text with their lines, below the editor, so that the text stays where it is. */
function Problems({ found, onChoose }: ProblemsProps) {
  if (found.length === 0) return null;
  const words = yamlTexts;
  return (
    <ul class="line-problems" aria-label={words.problems}>
      {found.slice(0, MOST).map((one) => (
        <li key={`${one.from} ${one.message}`}>
          <button type="button" class={`link ${one.severity}`} onClick={() => onChoose(one)}>
            <strong>{words.line(one.line)}</strong> <span>{one.message}</span>
          </button>
        </li>
      ))}
      {found.length > MOST && <li class="hint">{words.moreProblems(found.length - MOST)}</li>}
    </ul>
  );
}
