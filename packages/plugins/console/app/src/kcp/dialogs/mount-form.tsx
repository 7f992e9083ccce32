import { useId } from "preact/hooks";
import { Field } from "../../ui/field.tsx";
import { deleteAll } from "../../workspaces/mount-objects.ts";
import { treeRows } from "../../workspaces/tree-model.ts";
import { WORKSPACES } from "../../workspaces/workspace.ts";
import { MOUNTS, SECRETS } from "../kinds.ts";
import { texts } from "../texts.ts";
import type { Made } from "./create-all.ts";
import { type FormProps, useForm } from "./made-dialog.tsx";
import { replacing, unneeded } from "./made-mount.ts";
import { NotAllowed } from "./not-allowed.tsx";
import {
  currentOf,
  hostOf,
  type Identity,
  mountObject,
  secretObject,
  targetOf,
  workspaceMountObject,
  workspaceObject,
} from "./target.ts";
import { TextField } from "./text-field.tsx";

type FormField = "name" | "target" | "identity";

/** What the user has typed: it stays when the dialog leads back to the form. */
export interface MountValues {
  readonly name: string;
  readonly by: "kubeconfig" | "url" | "workspace";
  readonly kubeconfig: string;
  readonly url: string;
  readonly token: string;
  readonly authority: string;
  readonly path: string;
  readonly identity: Identity;
}

export const NO_VALUES: MountValues = {
  ...{ name: "", by: "kubeconfig", kubeconfig: "", url: "", token: "", authority: "", path: "", identity: "Fixed" },
};

export interface MountFormProps extends FormProps {
  readonly values: MountValues;
  readonly onValues: (values: MountValues) => void;
  /** The mount exists: the form replaces its target. */
  readonly isCorrection: boolean;
  /** Gets the host of the target, before the mount is made. */
  readonly onHost: (host: string) => void;
}

/** Asks for what a mount needs, and makes its Secret, the Mount and the Workspace. */
export function MountForm({ workspace, onClose, onMade, values, onValues, isCorrection, onHost }: MountFormProps) {
  const { name, by, kubeconfig, url, token, authority, path, identity } = values;
  const hasNoToken = by === "url" && token.trim() === "";
  const { problems, setProblems, isBusy, change, create } = useForm<FormField>({
    workspace,
    onMade,
    fieldOf,
    other: "name",
  });
  const id = useId();
  const words = texts.mountDialog;
  const set = <K extends keyof MountValues>(field: K) =>
    change((value: MountValues[K]) => onValues({ ...values, [field]: value }));
  const trimmed = (field: "name" | "url" | "path") => (value: string) => set(field)(value.trim());
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const { objects: wanted, host } = objectsOf(values, hasNoToken ? "None" : identity);
      onHost(host);
      if (!isCorrection) return void create(wanted, { name, text: words.created(name) });
      const old = await unneeded(workspace, wanted);
      const finish = async () => {
        const [left] = await deleteAll(old);
        return left && { target: words.secretLeft(name, left.error.message) };
      };
      void create(await replacing(workspace, wanted), { name, text: words.replaced(name), finish });
    } catch (error) {
      setProblems({ target: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      {by !== "workspace" && <NotAllowed workspace={workspace} id={SECRETS} namespace="default" />}
      <NotAllowed workspace={workspace} id={MOUNTS} />
      <NotAllowed workspace={workspace} id={WORKSPACES} />
      {isCorrection ? (
        <p>{words.correcting(name)}</p>
      ) : (
        <TextField
          label={words.name}
          hint={words.nameHint}
          error={problems.name}
          isRequired
          value={name}
          onValue={trimmed("name")}
        />
      )}
      <fieldset class="choices">
        <legend>{words.target}</legend>
        {(["kubeconfig", "url", "workspace"] as const).map((one) => (
          <label class="choice" key={one}>
            <input type="radio" name={`${id}-by`} checked={by === one} onChange={() => set("by")(one)} />
            {{ kubeconfig: words.byKubeconfig, url: words.byUrl, workspace: words.byWorkspace }[one]}
          </label>
        ))}
      </fieldset>
      {by === "workspace" && (
        <TextField
          label={words.path}
          hint={words.pathHint}
          error={problems.target ?? problems.identity}
          options={treeRows.value.filter(({ kind }) => kind === "workspace").map((row) => row.path)}
          isRequired
          value={path}
          onValue={trimmed("path")}
        />
      )}
      {by === "url" && (
        <>
          <TextField
            label={words.url}
            error={problems.target}
            placeholder="https://"
            isRequired
            value={url}
            onValue={trimmed("url")}
          />
          <TextField label={words.token} hint={words.tokenHint} isSecret value={token} onValue={set("token")} />
          <TextField
            label={words.authority}
            hint={words.authorityHint}
            rows={3}
            value={authority}
            onValue={set("authority")}
          />
        </>
      )}
      {by === "kubeconfig" && (
        <TextField
          label={words.byKubeconfig}
          hint={words.kubeconfig.hint}
          error={problems.target}
          rows={7}
          isRequired
          value={kubeconfig}
          onValue={set("kubeconfig")}
        />
      )}
      {by !== "workspace" && !hasNoToken && (
        <Field label={words.identity} hint={words.identities[identity]} error={problems.identity}>
          {(attributes) => (
            <select
              {...attributes}
              value={identity}
              onChange={({ currentTarget }) => set("identity")(currentTarget.value as Identity)}
            >
              {(["Fixed", "Impersonate", "None"] as const).map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {by !== "workspace" && <p class="hint">{words.secretHint(name)}</p>}
      <footer>
        <button type="button" onClick={onClose}>
          {texts.cancel}
        </button>
        <button type="submit" class="primary" disabled={isBusy}>
          {isCorrection ? (isBusy ? words.replacing : words.replace) : isBusy ? words.busy : words.submit}
        </button>
      </footer>
    </form>
  );
}

/** The objects of a mount, and the host of its target for messages. Throws an error for readers. */
function objectsOf({ name, by, path, ...values }: MountValues, identity: Identity) {
  const workspace: Made = { resource: WORKSPACES, object: workspaceObject(name) };
  if (by === "workspace") {
    const objects = [{ resource: MOUNTS, object: workspaceMountObject(name, path) }, workspace];
    return { objects, host: path };
  }
  const { url, token, authority, kubeconfig } = values;
  const target = by === "url" ? targetOf(url, { token: token.trim(), authority }) : currentOf(kubeconfig);
  const objects: readonly Made[] = [
    { resource: SECRETS, namespace: "default", object: secretObject(name, target) },
    { resource: MOUNTS, object: mountObject(name, identity) },
    workspace,
  ];
  return { objects, host: hostOf(target) };
}

function fieldOf({ object }: Made, field: string): FormField {
  if (field.startsWith("metadata")) return "name";
  if (field.startsWith("spec.identity")) return "identity";
  return object.kind === "Workspace" ? "name" : "target";
}
