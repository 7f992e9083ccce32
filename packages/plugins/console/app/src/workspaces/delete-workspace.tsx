import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { asStatusError } from "../api/client.ts";
import { deleteObject, readObject } from "../api/objects.ts";
import type { KubernetesObject } from "../api/types.ts";
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
  const [isThorough, setThorough] = useState(false);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const parent = parentOf(path) ?? "root";
  const name = workspace?.metadata.name ?? "";
  const mount = workspace?.spec?.mount?.ref;
  const words = mount === undefined ? texts.remove : texts.unmount;
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
      if (mount !== undefined && isThorough) await deleteMount(parent, mount.name);
      confirmDone(words.done(name));
      close();
      const { workspace: current } = route.peek();
      if (current === path || current.startsWith(`${path}:`)) navigate(routeTo({ workspace: parent }));
    } catch (cause) {
      setError(asStatusError(cause).message);
      setBusy(false);
    }
  };
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

interface SecretReference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

interface Mount extends KubernetesObject {
  readonly spec?: { readonly ref?: SecretReference; readonly secretRef?: SecretReference };
}

/** Deletes a Mount and the Secrets that it names. Throws a StatusError. */
async function deleteMount(workspace: string, name: string): Promise<void> {
  const at = { workspace, resource: MOUNTS, namespace: "", name };
  const { spec, metadata } = await readObject<Mount>(at);
  await deleteObject(at, metadata.uid);
  const named = [spec?.ref?.kind === "Secret" ? spec.ref : undefined, spec?.secretRef];
  const keys = named.flatMap((one) => (one?.name ? [`${one.namespace ?? "default"}/${one.name}`] : []));
  for (const key of new Set(keys)) {
    const [namespace = "", secret = ""] = key.split("/", 2);
    await deleteObject({ workspace, resource: SECRETS, namespace, name: secret });
  }
}

const MOUNTS = { group: "proxy.kcp.io", version: "v1alpha1", resource: "mounts" } as const;
const SECRETS = { group: "", version: "v1", resource: "secrets" } as const;
