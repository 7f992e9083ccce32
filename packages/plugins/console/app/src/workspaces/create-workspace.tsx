import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { asStatusError, type StatusError } from "../api/client.ts";
import { createObject } from "../api/objects.ts";
import { route, routeHash, routeTo } from "../route.ts";
import { texts } from "../texts.ts";
import { confirmDone } from "../ui/announce.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { logicalCluster } from "./logical-cluster.ts";
import { openPaths, setOpen } from "./tree-model.ts";
import { TypeChoice } from "./type-choice.tsx";
import { type TypeReference, WORKSPACES } from "./workspace.ts";
import { allowedTypes, typeOfLogicalCluster } from "./workspace-types.ts";

/** Path of the workspace in which one is to be created. */
const createdIn = signal<string | undefined>(undefined);

export function CreateWorkspaceDialog() {
  const { value } = createdIn;
  return value === undefined ? null : <CreateForm key={value} parent={value} />;
}

/** Names that the server accepts. */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Errors of the server, beside the fields that they concern. */
interface Problems {
  readonly name?: string;
  readonly type?: string;
}

function CreateForm({ parent }: { readonly parent: string }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState("");
  const [problems, setProblems] = useState<Problems>({});
  const [isBusy, setBusy] = useState(false);
  const cluster = logicalCluster(parent).value.items[0];
  const parentType = cluster === undefined ? undefined : typeOfLogicalCluster(cluster);
  const { name: typeName = "", path: typePath = "" } = parentType ?? {};
  const types = useMemo(() => allowedTypes(parent, { name: typeName, path: typePath }), [parent, typeName, typePath]);
  const allowed = types.value;
  const close = () => {
    createdIn.value = undefined;
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblems({});
    try {
      const at = { workspace: parent, resource: WORKSPACES, namespace: "" };
      await createObject(at, manifest(name.trim(), referenceOf(chosen)));
      const href = routeHash(routeTo({ workspace: `${parent}:${name.trim()}` }));
      confirmDone(texts.create.done(name), { href, text: texts.create.enter });
      close();
      if (!openPaths.peek().has(parent)) setOpen(parent, true);
    } catch (cause) {
      const found = problemsOf(asStatusError(cause));
      // The server's texts are regular expressions.
      const isInvalid = found.name !== undefined && !NAME.test(name.trim());
      setProblems(isInvalid ? { ...found, name: texts.create.invalidName } : found);
      setBusy(false);
    }
  };
  return (
    <Dialog heading={texts.create.heading(parent)} onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <Field
          label={texts.create.name}
          {...(problems.name === undefined && { hint: texts.create.nameHint })}
          error={problems.name}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              // Firefox calls an empty field invalid if it is `required`.
              aria-required
              value={name}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => {
                setName(currentTarget.value);
                // The error was about another name.
                setProblems(({ name: _, ...others }) => others);
              }}
            />
          )}
        </Field>
        <TypeChoice allowed={allowed} chosen={chosen} onChoose={setChosen} error={problems.type} />
        <footer>
          <button type="button" onClick={close}>
            {texts.cancel}
          </button>
          <button type="submit" class="primary" disabled={isBusy || name.trim() === ""}>
            {isBusy ? texts.create.busy : texts.create.submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function referenceOf(value: string): TypeReference | undefined {
  const at = value.lastIndexOf(":");
  return at < 0 ? undefined : { name: value.slice(at + 1), path: value.slice(0, at) };
}

const manifest = (name: string, type: TypeReference | undefined) => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name },
  spec: type === undefined ? {} : { type },
});

/** What does not concern the type is shown at the name. */
function problemsOf({ status, message }: StatusError): Problems {
  const causes = status.details?.causes ?? [];
  const ofType = causes.filter(({ field = "" }) => field.startsWith("spec.type"));
  if (ofType.length > 0) return { type: ofType.map((cause) => cause.message ?? message).join(" ") };
  const named = causes.filter(({ field = "" }) => field.startsWith("metadata"));
  // Without the one that says that others were not checked.
  const ofName = [...new Set((named.length > 0 ? named : causes).flatMap((cause) => cause.message ?? []))];
  if (ofName.length > 0) return { name: ofName.join("\n") };
  const isOfType = /spec\.type|workspace ?type|allowedParents|allowed types/i.test(message);
  return isOfType ? { type: message } : { name: message };
}

/** The workspace whose child the button creates: the current one. */
export const createHere = (): void => {
  createdIn.value = route.peek().workspace;
};
