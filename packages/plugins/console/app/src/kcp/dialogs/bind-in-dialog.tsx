import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog.tsx";
import { treeRows } from "../../workspaces/tree-model.ts";
import { childWorkspaces } from "../../workspaces/workspace.ts";
import { texts } from "../texts.ts";
import { BindDialog } from "./bind-dialog.tsx";
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
  if (workspace !== undefined) return <BindDialog workspace={workspace} reference={reference} onClose={onClose} />;
  return (
    <Dialog heading={texts.bindInDialog.heading(reference.name)} onClose={onClose}>
      <ChooseWorkspace onChoose={setWorkspace} onClose={onClose} />
    </Dialog>
  );
}

/** Workspaces in the document: a path that is typed finds the others. */
const MOST = 300;
/** Deeper workspaces are no further to the right. */
const DEEPEST = 6;

interface ChooseProps {
  readonly onChoose: (workspace: string) => void;
  readonly onClose: () => void;
}

function ChooseWorkspace({ onChoose, onClose }: ChooseProps) {
  const [path, setPath] = useState("");
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
        if (path !== "") onChoose(path);
      }}
    >
      <TextField
        label={words.path}
        hint={words.hint}
        options={below}
        isRequired
        value={path}
        onValue={(value) => setPath(value.trim())}
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
              onChange={() => setPath(row.path)}
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
        <button type="submit" class="primary" disabled={path === ""}>
          {words.submit}
        </button>
      </footer>
    </form>
  );
}
