import { useMemo, useRef, useState } from "preact/hooks";
import { liveObject } from "../../api/live-list.ts";
import { collectionPath } from "../../api/objects.ts";
import { confirmDone } from "../../ui/announce.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { type ApiExport, EXPORTS, SCHEMAS } from "../kinds.ts";
import { ObjectLink } from "../links.tsx";
import { texts } from "../texts.ts";
import { createAll, type Made, problemsByField } from "./create-all.ts";
import { NotAllowed } from "./not-allowed.tsx";
import { Progress } from "./progress.tsx";
import { exportObject, prefixOf, type Snapshot, schemaObject, snapshotsOf, yamlOf } from "./snapshot.ts";
import { TextField } from "./text-field.tsx";

interface DialogProps {
  readonly workspace: string;
  readonly onClose: () => void;
}

type FormField = "text" | "prefix" | "name";

/** Exports the resources of pasted CustomResourceDefinitions or APIResourceSchemas. */
export function ExportDialog({ workspace, onClose }: DialogProps) {
  const [made, setMade] = useState<string>();
  return (
    <Dialog heading={texts.exportDialog.heading(workspace)} onClose={onClose}>
      {made === undefined ? (
        <ExportForm workspace={workspace} onClose={onClose} onMade={setMade} />
      ) : (
        <Exported workspace={workspace} name={made} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface Read {
  readonly snapshots: readonly Snapshot[];
  readonly error?: string;
}

function read(text: string): Read {
  if (text.trim() === "") return { snapshots: [] };
  try {
    return { snapshots: snapshotsOf(text) };
  } catch (error) {
    return { snapshots: [], error: error instanceof Error ? error.message : String(error) };
  }
}

function ExportForm({ workspace, onClose, onMade }: DialogProps & { readonly onMade: (name: string) => void }) {
  const [text, setText] = useState("");
  const [typedPrefix, setPrefix] = useState<string>();
  const [typedName, setName] = useState<string>();
  const [problems, setProblems] = useState<Partial<Record<FormField, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const done = useRef(new Set<string>());
  const words = texts.exportDialog;
  const { snapshots, error } = useMemo(() => read(text), [text]);
  const [first] = snapshots;
  const prefix = typedPrefix ?? (first === undefined ? "" : prefixOf(snapshots));
  const name = typedName ?? (first === undefined ? "" : first.group || first.plural);
  const objects: readonly Made[] = [
    ...snapshots.map((one) => ({ resource: SCHEMAS, object: schemaObject(prefix, one) })),
    ...(first === undefined ? [] : [{ resource: EXPORTS, object: exportObject(name, prefix, snapshots) }]),
  ];
  const change = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      setProblems({});
      set(value);
    };
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (first === undefined) return setProblems({ text: error ?? words.noSchema });
    setBusy(true);
    setProblems({});
    try {
      await createAll(workspace, objects, done.current);
      confirmDone(words.done(name));
      onMade(name);
    } catch (cause) {
      setProblems(problemsByField<FormField>(cause, { fieldOf, other: "text" }));
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <NotAllowed workspace={workspace} id={SCHEMAS} />
      <NotAllowed workspace={workspace} id={EXPORTS} />
      <TextField
        label={words.text}
        hint={words.textHint}
        error={error ?? problems.text}
        rows={9}
        isRequired
        value={text}
        onValue={change(setText)}
      />
      <TextField
        label={words.name}
        error={problems.name}
        isRequired
        value={name}
        onValue={change((value: string) => setName(value.trim()))}
      />
      <TextField
        label={words.prefix}
        hint={words.prefixHint}
        error={problems.prefix}
        isRequired
        value={prefix}
        onValue={change((value: string) => setPrefix(value.trim()))}
      />
      {objects.length > 0 && (
        <details class="preview">
          <summary>{words.preview(objects.length)}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keys scroll it. */}
          <pre tabIndex={0}>{yamlOf(objects.map(({ object }) => object))}</pre>
        </details>
      )}
      <footer>
        <button type="button" onClick={onClose}>
          {texts.cancel}
        </button>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? words.busy : words.submit}
        </button>
      </footer>
    </form>
  );
}

function fieldOf({ object }: Made, field: string): FormField {
  if (object.kind === "APIExport") return field.startsWith("spec") ? "text" : "name";
  return field === "metadata.name" ? "prefix" : "text";
}

interface ExportedProps extends DialogProps {
  readonly name: string;
}

function Exported({ workspace, name, onClose }: ExportedProps) {
  const path = collectionPath({ workspace, resource: EXPORTS, namespace: "" });
  const object = liveObject<ApiExport>(path, name).value.items[0];
  const hash = object?.status?.identityHash;
  const words = texts.exportDialog;
  return (
    <div class="made">
      <Progress
        conditions={object?.status?.conditions ?? []}
        isDone={hash !== undefined}
        waiting={words.waiting}
        done={words.done(name)}
      >
        {hash !== undefined && (
          <p>
            {texts.export.identity}: <code>{hash}</code>
          </p>
        )}
      </Progress>
      <footer>
        <span class="grow">
          <ObjectLink workspace={workspace} id={EXPORTS} name={name} text={words.show} part="kcp" onFollow={onClose} />
        </span>
        <button type="button" class="primary" onClick={onClose}>
          {texts.close}
        </button>
      </footer>
    </div>
  );
}
