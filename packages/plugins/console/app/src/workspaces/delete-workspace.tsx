import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { asStatusError } from "../api/client.ts";
import { deleteObject } from "../api/objects.ts";
import { navigate, route, routeTo } from "../route.ts";
import { texts } from "../texts.ts";
import { confirmDone } from "../ui/announce.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { LeftObjects } from "./left-objects.tsx";
import { deleteAll, type LeftObject, objectsOfMount } from "./mount-objects.ts";
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
  const [isThorough, setThorough] = useState(false);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [left, setLeft] = useState<readonly LeftObject[]>([]);
  const parent = parentOf(path) ?? "root";
  const name = workspace?.metadata.name ?? "";
  const mount = workspace?.spec?.mount?.ref;
  const words = mount === undefined ? texts.remove : texts.unmount;
  const close = () => {
    deletedWorkspace.value = undefined;
  };
  /** Ends the dialog, unless objects are left. */
  const endWith = (objects: readonly LeftObject[]) => {
    setLeft(objects);
    if (objects.length > 0) return;
    confirmDone(words.done(name));
    close();
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (typed !== name) return;
    setBusy(true);
    try {
      const at = { workspace: parent, resource: WORKSPACES, namespace: "", name };
      // Read first: if that fails, nothing has been deleted.
      const objects = mount !== undefined && isThorough ? await objectsOfMount(parent, mount.name) : [];
      await deleteObject(at, workspace?.metadata.uid);
      endWith(await deleteAll(objects));
      const { workspace: current } = route.peek();
      if (current === path || current.startsWith(`${path}:`)) navigate(routeTo({ workspace: parent }));
    } catch (cause) {
      setError(asStatusError(cause).message);
      setBusy(false);
    }
  };
  if (left.length > 0)
    return (
      <Dialog heading={words.heading(path)} onClose={close}>
        <LeftObjects name={name} left={left} onLeft={endWith} onClose={close} />
      </Dialog>
    );
  return (
    <Dialog heading={words.heading(path)} onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        {mount === undefined ? <p>{texts.remove.warning}</p> : <p>{texts.unmount.text(mount.kind, mount.name)}</p>}
        {mount?.kind === "Mount" && (
          <label class="check">
            <input
              type="checkbox"
              checked={isThorough}
              onChange={({ currentTarget }) => setThorough(currentTarget.checked)}
            />
            {texts.unmount.thorough}
          </label>
        )}
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
            {isBusy ? words.busy : words.submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
