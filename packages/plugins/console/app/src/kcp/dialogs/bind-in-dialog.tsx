import { useState } from "preact/hooks";
import { asStatusError } from "../../api/client.ts";
import { readObject } from "../../api/objects.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { treeRows } from "../../workspaces/tree-model.ts";
import { childWorkspaces, nameOf, parentOf, WORKSPACES } from "../../workspaces/workspace.ts";
import { LOGICAL_CLUSTERS } from "../kinds.ts";
import { texts } from "../texts.ts";
import { BindDialog, nameError } from "./bind-dialog.tsx";
import { TextField } from "./text-field.tsx";
import { useSettled } from "./use-settled.ts";

interface BindInProps {
  /** The export to bind. */
  readonly reference: { readonly path: string; readonly name: string };
  readonly onClose: () => void;
}

/** Binds an export in a workspace that the user chooses first. */
export function BindInDialog({ reference, onClose }: BindInProps) {
  const [workspace, setWorkspace] = useState<string>();
  /** Of the last choice, to which `Back` leads. */
  const [path, setPath] = useState("");
  if (workspace !== undefined)
    return (
      <BindDialog
        workspace={workspace}
        reference={reference}
        onClose={onClose}
        onBack={() => setWorkspace(undefined)}
      />
    );
  return (
    <Dialog heading={texts.bindInDialog.heading(reference.name)} onClose={onClose}>
      <ChooseWorkspace path={path} onPath={setPath} onChoose={setWorkspace} onClose={onClose} />
    </Dialog>
  );
}

/** Workspaces in the document: a path that is typed finds the others. */
const MOST = 300;
/** Deeper workspaces are no further to the right. */
const DEEPEST = 6;

interface ChooseProps {
  readonly path: string;
  readonly onPath: (path: string) => void;
  readonly onChoose: (workspace: string) => void;
  readonly onClose: () => void;
}

function ChooseWorkspace({ path, onPath, onChoose, onClose }: ChooseProps) {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const change = (next: string) => {
    setError(undefined);
    onPath(next);
  };
  const goOn = async () => {
    setBusy(true);
    const problem = await problemOf(path);
    setBusy(false);
    if (problem === undefined) onChoose(path);
    else setError(problem);
  };
  const parent = useSettled(path).replace(/:[^:]*$/, "") || "root";
  const below = childWorkspaces(parent).value.items.map(({ metadata }) => `${parent}:${metadata.name}`);
  // A mounted workspace belongs to another server, which has no bindings.
  const rows = treeRows.value.filter(
    ({ kind, workspace }) => kind === "workspace" && workspace?.spec?.mount === undefined,
  );
  const words = texts.bindInDialog;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (path !== "" && !isBusy) void goOn();
      }}
    >
      <TextField
        label={words.path}
        hint={words.hint}
        error={error}
        options={below}
        isRequired
        value={path}
        onValue={(value) => change(value.trim())}
      />
      <fieldset class="choices workspace-choices">
        <legend>{words.tree}</legend>
        {rows.slice(0, MOST).map((row) => (
          <label key={row.path} class={`choice level-${Math.min(row.level, DEEPEST)}`}>
            <input
              type="radio"
              name="workspace"
              value={row.path}
              checked={path === row.path}
              onChange={() => change(row.path)}
            />
            <bdi>{row.name}</bdi>
          </label>
        ))}
        {rows.length > MOST && <p class="hint">{texts.more(rows.length - MOST)}</p>}
      </fieldset>
      <footer>
        <button type="button" onClick={onClose}>
          {texts.cancel}
        </button>
        <button type="submit" class="primary" disabled={path === "" || isBusy}>
          {words.submit}
        </button>
      </footer>
    </form>
  );
}

/** Why there is no such workspace; undefined if there is one, and where the user may not read that. */
async function problemOf(path: string): Promise<string | undefined> {
  const parent = parentOf(path);
  if (parent === undefined && path.includes(":")) return undefined;
  const address =
    parent === undefined
      ? { workspace: path, resource: LOGICAL_CLUSTERS, namespace: "", name: "cluster" }
      : { workspace: parent, resource: WORKSPACES, namespace: "", name: nameOf(path) };
  try {
    await readObject(address);
    return undefined;
  } catch (cause) {
    const { code } = asStatusError(cause);
    if (parent === undefined) return code === 404 || code === 403 ? nameError(path, []) : undefined;
    return code === 404 ? texts.bindInDialog.missing(path) : undefined;
  }
}
