import { useState } from "preact/hooks";
import { asStatusError, request } from "../api/client.ts";
import { type ObjectAddress, objectPath } from "../api/objects.ts";
import { texts } from "../texts.ts";
import { confirmDone } from "../ui/announce.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Lazy } from "../ui/lazy.tsx";
import type { WholeObject } from "./live-object.ts";

const POLICIES = ["Background", "Foreground", "Orphan"] as const;
type Policy = (typeof POLICIES)[number];

/** True if much else ends with an object: its name has to be typed. */
function isWeighty({ resource: { group, resource } }: ObjectAddress): boolean {
  if (/^(tenancy|apis|core)\.kcp\.io$/.test(group)) return true;
  return (group === "" && resource === "namespaces") || resource === "customresourcedefinitions";
}

/** True for kinds that own no objects: what the server deletes with them is another matter. */
const isOfApi = ({ resource: { group, resource } }: ObjectAddress): boolean =>
  group === "apis.kcp.io" && (resource === "apibindings" || resource === "apiexports");

interface DeleteObjectProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
  readonly onClose: () => void;
}

/** Asks before an object is deleted, and how what it owns is to be treated. */
export function DeleteObjectDialog({ address, object, onClose }: DeleteObjectProps) {
  const [policy, setPolicy] = useState<Policy>("Background");
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const words = texts.object.remove;
  const { finalizers = [], uid } = object.metadata;
  const mayDelete = !isWeighty(address) || typed === address.name;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!mayDelete) return;
    setBusy(true);
    try {
      await remove(address, { policy, uid });
      confirmDone(words.done(address.name));
      onClose();
    } catch (cause) {
      setError(asStatusError(cause).message);
      setBusy(false);
    }
  };
  return (
    <Dialog heading={words.heading(object.kind, address.name)} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {isOfApi(address) ? (
          <Lazy
            load={() => import("../kcp/consequences.tsx").then((module) => module.Consequences)}
            with={{ address, object }}
          />
        ) : (
          <PolicyChoice policy={policy} onPolicy={setPolicy} />
        )}
        {finalizers.length > 0 && <p class="object-note warning">{words.finalizers(finalizers.join(", "))}</p>}
        {isWeighty(address) && (
          <Field label={words.confirm(address.name)}>
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
        )}
        <p class="error" role="alert">
          {error}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button type="submit" class="danger" disabled={!mayDelete || isBusy}>
            {isBusy ? words.busy : words.submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface PolicyProps {
  readonly policy: Policy;
  readonly onPolicy: (policy: Policy) => void;
}

/** What becomes of the objects that it owns. */
function PolicyChoice({ policy, onPolicy }: PolicyProps) {
  const words = texts.object.remove;
  return (
    <fieldset class="choices">
      <legend>{words.owned}</legend>
      {POLICIES.map((one) => (
        <label key={one} class="choice">
          <input type="radio" name="propagation" value={one} checked={policy === one} onChange={() => onPolicy(one)} />
          <span>
            <strong>{one}</strong> <span class="hint">{words.policies[one]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function remove(
  address: ObjectAddress,
  { policy, uid }: { readonly policy: Policy; readonly uid: string | undefined },
): Promise<unknown> {
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  const body = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: policy, ...preconditions };
  return request(objectPath(address), { method: "DELETE", body });
}
