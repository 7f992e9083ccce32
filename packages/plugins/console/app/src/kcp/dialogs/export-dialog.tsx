import { useMemo, useState } from "preact/hooks";
import { liveObject } from "../../api/live-list.ts";
import { collectionPath } from "../../api/objects.ts";
import { type ApiExport, type ApiResourceSchema, EXPORTS, SCHEMAS } from "../kinds.ts";
import { ObjectLink } from "../links.tsx";
import { inWorkspace } from "../lists.ts";
import { texts } from "../texts.ts";
import type { Made } from "./create-all.ts";
import { type FormProps, MadeDialog, type MadeDialogProps, useForm } from "./made-dialog.tsx";
import { NotAllowed } from "./not-allowed.tsx";
import { Progress } from "./progress.tsx";
import { exportObject, prefixOf, type Snapshot, schemaObject, snapshotsOf, yamlOf } from "./snapshot.ts";
import { TextField } from "./text-field.tsx";
import { type UnknownKeyword, unknownKeywords } from "./unknown-keywords.ts";
import { ExportChanges, schemaChanges, updatedExport } from "./update-export.tsx";
import { useSettled } from "./use-settled.ts";

type FormField = "text" | "prefix" | "name";

/** Exports the resources of pasted CustomResourceDefinitions or APIResourceSchemas. */
export function ExportDialog({ workspace, onClose }: MadeDialogProps) {
  return (
    <MadeDialog
      heading={texts.exportDialog.heading(workspace)}
      onClose={onClose}
      form={(onMade) => <ExportForm workspace={workspace} onClose={onClose} onMade={onMade} />}
      made={(name) => <Exported workspace={workspace} name={name} onClose={onClose} />}
    />
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

function ExportForm({ workspace, onClose, onMade }: FormProps) {
  const [text, setText] = useState("");
  const [typedPrefix, setPrefix] = useState<string>();
  const [typedName, setName] = useState<string>();
  const { problems, setProblems, isBusy, change, create } = useForm<FormField>({
    workspace,
    onMade,
    fieldOf,
    other: "text",
  });
  const words = texts.exportDialog;
  const { snapshots, error } = useMemo(() => read(text), [text]);
  const unknown = useMemo(() => unknownKeywords(snapshots), [snapshots]);
  const [first] = snapshots;
  const prefix = typedPrefix ?? (first === undefined ? "" : prefixOf(snapshots));
  const name = typedName ?? (first === undefined ? "" : first.group || first.plural);
  const path = collectionPath({ workspace, resource: EXPORTS, namespace: "" });
  const named = useSettled(name);
  const existing = named === "" ? undefined : liveObject<ApiExport>(path, named).value.items[0];
  const schemas = inWorkspace<ApiResourceSchema>(workspace, SCHEMAS).items;
  const update = existing === undefined || existing.metadata.name !== name ? undefined : existing;
  const changes = update === undefined ? [] : schemaChanges(update, schemas, snapshots);
  const changed =
    update === undefined ? snapshots : changes.filter(({ fields }) => fields?.length !== 0).map((one) => one.snapshot);
  const objects: readonly Made[] = [
    ...changed.map((one) => ({ resource: SCHEMAS, object: schemaObject(prefix, one) })),
    ...(first === undefined || changed.length === 0
      ? []
      : update === undefined
        ? [{ resource: EXPORTS, object: exportObject(name, prefix, snapshots) }]
        : [{ resource: EXPORTS, object: updatedExport(update, prefix, changed), isUpdate: true }]),
  ];
  const submit = (event: Event) => {
    event.preventDefault();
    if (first === undefined) return setProblems({ text: error ?? words.noSchema });
    void create(objects, { name, text: update === undefined ? words.done(name) : words.update.done(name) });
  };
  const submitText = (isAnyway: boolean): string => {
    if (update !== undefined) return (isAnyway ? words.update.anyway : words.update.submit)(name);
    return isAnyway ? words.anyway : words.submit;
  };
  return (
    <form class="wide" onSubmit={submit}>
      <NotAllowed workspace={workspace} id={SCHEMAS} />
      {update === undefined && <NotAllowed workspace={workspace} id={EXPORTS} />}
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
      {unknown.length > 0 && <UnknownKeywords unknown={unknown} />}
      {update !== undefined && first !== undefined && <ExportChanges name={name} changes={changes} />}
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
        <button
          type="submit"
          class="primary"
          disabled={isBusy || (update !== undefined && first !== undefined && changed.length === 0)}
        >
          {isBusy ? words.busy : submitText(unknown.length > 0)}
        </button>
      </footer>
    </form>
  );
}

/** Keywords that are named at most. */
const MOST = 12;

function UnknownKeywords({ unknown }: { readonly unknown: readonly UnknownKeyword[] }) {
  const words = texts.exportDialog.unknown;
  return (
    <div class="update" role="status">
      <p>{words.heading}</p>
      <ul class="consequences">
        {unknown.slice(0, MOST).map(({ keyword, field }) => (
          <li key={`${field} ${keyword}`}>{words.keyword(keyword, field)}</li>
        ))}
      </ul>
      {unknown.length > MOST && <p class="hint">{texts.more(unknown.length - MOST)}</p>}
    </div>
  );
}

function fieldOf({ object }: Made, field: string): FormField {
  if (object.kind === "APIExport") return field.startsWith("spec") ? "text" : "name";
  return field === "metadata.name" ? "prefix" : "text";
}

interface ExportedProps extends MadeDialogProps {
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
        done={words.ready(name)}
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
