import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { asStatusError } from "../api/client.ts";
import { deleteObject } from "../api/objects.ts";
import { navigate, route, routeTo } from "../route.ts";
import { texts } from "../texts.ts";
import { confirmDone } from "../ui/announce.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { parentOf, WORKSPACES, type Workspace } from "./workspace.ts";

interface Deleted {
  readonly path: string;
  readonly workspace?: Workspace;
}

/** The workspace whose deletion is to be confirmed. */
export const deletedWorkspace = signal<Deleted | undefined>(undefined);

export function DeleteWorkspaceDialog() {
  const { value } = deletedWorkspace;
  return value === undefined ? null : <DeleteForm key={value.path} {...value} />;
}

function DeleteForm({ path, workspace }: Deleted) {
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const parent = parentOf(path) ?? "root";
  const name = workspace?.metadata.name ?? "";
  const close = () => {
    deletedWorkspace.value = undefined;
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (typed !== name) return;
    setBusy(true);
    try {
      const at = { workspace: parent, resource: WORKSPACES, namespace: "", name };
      await deleteObject(at, workspace?.metadata.uid);
      confirmDone(texts.remove.done(name));
      close();
      const { workspace: current } = route.peek();
      if (current === path || current.startsWith(`${path}:`)) navigate(routeTo({ workspace: parent }));
    } catch (cause) {
      setError(asStatusError(cause).message);
      setBusy(false);
    }
  };
  return (
    <Dialog heading={texts.remove.heading(path)} onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <p>{texts.remove.warning}</p>
        <Field label={texts.remove.confirm(name)} error={error}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              value={typed}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          )}
        </Field>
        <footer>
          <button type="button" onClick={close}>
            {texts.cancel}
          </button>
          <button type="submit" class="danger" disabled={typed !== name || isBusy}>
            {isBusy ? texts.remove.busy : texts.remove.submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
