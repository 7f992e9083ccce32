import { useId, useState } from "preact/hooks";
import { Field } from "../../ui/field.tsx";
import { WORKSPACES } from "../../workspaces/workspace.ts";
import { MOUNTS, SECRETS } from "../kinds.ts";
import { texts } from "../texts.ts";
import type { Made } from "./create-all.ts";
import { type FormProps, useForm } from "./made-dialog.tsx";
import { NotAllowed } from "./not-allowed.tsx";
import {
  currentOf,
  hostOf,
  type Identity,
  mountObject,
  secretObject,
  type Target,
  targetOf,
  workspaceObject,
} from "./target.ts";
import { TextField } from "./text-field.tsx";

type FormField = "name" | "target" | "identity";

interface MountFormProps extends FormProps {
  /** Gets the host of the target, before the mount is made. */
  readonly onHost: (host: string) => void;
}

/** Asks for what a mount needs, and makes its Secret, the Mount and the Workspace. */
export function MountForm({ workspace, onClose, onMade, onHost }: MountFormProps) {
  const [name, setName] = useState("");
  const [isByUrl, setByUrl] = useState(false);
  const [kubeconfig, setKubeconfig] = useState("");
  const [url, setUrl] = useState("");
  const [token, setToken] = useState("");
  const [authority, setAuthority] = useState("");
  const [identity, setIdentity] = useState<Identity>("Fixed");
  const { problems, setProblems, isBusy, change, create } = useForm<FormField>({
    workspace,
    onMade,
    fieldOf,
    other: "name",
  });
  const id = useId();
  const words = texts.mountDialog;
  const submit = (event: Event) => {
    event.preventDefault();
    let target: Target;
    try {
      target = isByUrl ? targetOf(url, { token: token.trim(), authority }) : currentOf(kubeconfig);
    } catch (error) {
      return setProblems({ target: error instanceof Error ? error.message : String(error) });
    }
    const options = { name, target, identity: isByUrl && token.trim() === "" ? ("None" as const) : identity };
    const objects: readonly Made[] = [
      { resource: SECRETS, namespace: "default", object: secretObject(options) },
      { resource: MOUNTS, object: mountObject(options) },
      { resource: WORKSPACES, object: workspaceObject(options) },
    ];
    onHost(hostOf(target));
    void create(objects, { name, text: words.created(name) });
  };
  return (
    <form onSubmit={submit}>
      <NotAllowed workspace={workspace} id={SECRETS} namespace="default" />
      <NotAllowed workspace={workspace} id={MOUNTS} />
      <NotAllowed workspace={workspace} id={WORKSPACES} />
      <TextField
        label={words.name}
        hint={words.nameHint}
        error={problems.name}
        isRequired
        value={name}
        onValue={change((value: string) => setName(value.trim()))}
      />
      <fieldset class="choices">
        <legend>{words.target}</legend>
        {[false, true].map((one) => (
          <label class="choice" key={String(one)}>
            <input
              type="radio"
              name={`${id}-by`}
              checked={isByUrl === one}
              onChange={() => {
                setProblems({});
                setByUrl(one);
              }}
            />
            {one ? words.byUrl : words.byKubeconfig}
          </label>
        ))}
      </fieldset>
      {isByUrl ? (
        <>
          <TextField
            label={words.url}
            error={problems.target}
            placeholder="https://"
            isRequired
            value={url}
            onValue={change((value: string) => setUrl(value.trim()))}
          />
          <TextField label={words.token} hint={words.tokenHint} isSecret value={token} onValue={change(setToken)} />
          <TextField
            label={words.authority}
            hint={words.authorityHint}
            rows={3}
            value={authority}
            onValue={change(setAuthority)}
          />
        </>
      ) : (
        <TextField
          label={words.byKubeconfig}
          hint={words.kubeconfig.hint}
          error={problems.target}
          rows={7}
          isRequired
          value={kubeconfig}
          onValue={change(setKubeconfig)}
        />
      )}
      {!(isByUrl && token.trim() === "") && (
        <Field label={words.identity} hint={words.identities[identity]} error={problems.identity}>
          {(attributes) => (
            <select
              {...attributes}
              value={identity}
              onChange={({ currentTarget }) => setIdentity(currentTarget.value as Identity)}
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
      <p class="hint">{words.secretHint(name)}</p>
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
  if (field.startsWith("metadata")) return "name";
  if (field.startsWith("spec.identity")) return "identity";
  return object.kind === "Workspace" ? "name" : "target";
}
