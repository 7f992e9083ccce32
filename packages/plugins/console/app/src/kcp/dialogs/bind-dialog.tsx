import { useRef, useState } from "preact/hooks";
import { discovery } from "../../api/discovery.ts";
import { liveObject } from "../../api/live-list.ts";
import { collectionPath } from "../../api/objects.ts";
import { confirmDone } from "../../ui/announce.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { type Answer, answerTo } from "../binding/answer.ts";
import { BoundResource, Phase } from "../binding/binding-part.tsx";
import { type ApiBinding, type ApiExport, BINDINGS, EXPORTS, keyOfClaim } from "../kinds.ts";
import { ObjectLink, placeOf } from "../links.tsx";
import { everywhere } from "../lists.ts";
import { texts } from "../texts.ts";
import { ClaimChoices } from "./claim-choices.tsx";
import { createAll, problemsByField } from "./create-all.ts";
import { NotAllowed } from "./not-allowed.tsx";
import { Progress } from "./progress.tsx";
import { TextField } from "./text-field.tsx";
import { useSettled } from "./use-settled.ts";

interface DialogProps {
  readonly workspace: string;
  readonly onClose: () => void;
}

type FormField = "path" | "name" | "binding" | "claims";

/** Binds an export in a workspace, and says what becomes of the binding. */
export function BindDialog({ workspace, onClose }: DialogProps) {
  const [made, setMade] = useState<string>();
  return (
    <Dialog heading={texts.bindDialog.heading(workspace)} onClose={onClose}>
      {made === undefined ? (
        <BindForm workspace={workspace} onClose={onClose} onMade={setMade} />
      ) : (
        <Bound workspace={workspace} name={made} onClose={onClose} />
      )}
    </Dialog>
  );
}

function BindForm({ workspace, onClose, onMade }: DialogProps & { readonly onMade: (name: string) => void }) {
  const [path, setPath] = useState("");
  const [name, setName] = useState("");
  const [typedBinding, setBinding] = useState<string>();
  const [answers, setAnswers] = useState<Readonly<Record<string, Answer>>>({});
  const [problems, setProblems] = useState<Partial<Record<FormField, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const done = useRef(new Set<string>());
  const binding = typedBinding ?? name;
  const words = texts.bindDialog;
  const at = { path: useSettled(path), name: useSettled(name) };
  const exports = everywhere<ApiExport>(EXPORTS, {
    others: [collectionPath({ workspace: "root", resource: EXPORTS, namespace: "" })],
  });
  const isNamed = at.path !== "" && at.name !== "";
  const known = isNamed
    ? liveObject<ApiExport>(collectionPath({ workspace: at.path, resource: EXPORTS, namespace: "" }), at.name).value
    : undefined;
  const claims = known?.items[0]?.spec?.permissionClaims ?? [];
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblems({});
    const answered = claims.map((claim) => answerTo(claim, answers[keyOfClaim(claim)] ?? "Rejected"));
    const object = {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIBinding",
      metadata: { name: binding },
      spec: {
        reference: { export: { path, name } },
        ...(answered.length > 0 && { permissionClaims: answered }),
      },
    };
    try {
      await createAll(workspace, [{ resource: BINDINGS, object }], done.current);
      confirmDone(words.created(binding));
      onMade(binding);
    } catch (cause) {
      setProblems(
        problemsByField<FormField>(cause, { fieldOf: (_, field) => fieldOf(field, cause), other: "binding" }),
      );
      setBusy(false);
    }
  };
  const change = (set: (value: string) => void) => (value: string) => {
    setProblems({});
    set(value.trim());
  };
  const places = [...new Set(exports.items.map(placeOf))].sort();
  const names = exports.items.filter((one) => placeOf(one) === path).map(({ metadata }) => metadata.name);
  return (
    <form onSubmit={(event) => void submit(event)}>
      <NotAllowed workspace={workspace} id={BINDINGS} />
      <TextField
        label={words.path}
        hint={words.pathHint}
        error={problems.path}
        options={places}
        isRequired
        value={path}
        onValue={change(setPath)}
      />
      <TextField
        label={words.name}
        error={problems.name}
        options={[...new Set(names)].sort()}
        isRequired
        value={name}
        onValue={change(setName)}
      />
      <TextField
        label={words.binding}
        error={problems.binding}
        isRequired
        value={binding}
        onValue={change(setBinding)}
      />
      <ClaimChoices known={known} answers={answers} onAnswers={setAnswers} error={problems.claims} />
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

function fieldOf(field: string, error: unknown): FormField {
  if (field.startsWith("spec.permissionClaims")) return "claims";
  if (field.startsWith("spec.reference.export.path")) return "path";
  if (field.startsWith("spec.reference")) return "name";
  // Without the right to bind, and for an export that does not exist, the server answers alike.
  return error instanceof Error && /permission to bind|APIExport/i.test(error.message) ? "name" : "binding";
}

interface BoundProps extends DialogProps {
  readonly name: string;
}

function Bound({ workspace, name, onClose }: BoundProps) {
  const path = collectionPath({ workspace, resource: BINDINGS, namespace: "" });
  const object = liveObject<ApiBinding>(path, name).value.items[0];
  const found = discovery(workspace).value;
  const { phase, conditions = [], boundResources = [] } = object?.status ?? {};
  const words = texts.bindDialog;
  return (
    <div class="made">
      <Progress conditions={conditions} isDone={phase === "Bound"} waiting={words.waiting} done={words.done(name)}>
        <p>
          {texts.binding.phase}: <Phase phase={phase} />
        </p>
        {boundResources.length > 0 && (
          <>
            <h3>{texts.binding.resources.heading}</h3>
            <ul class="owned">
              {boundResources.map(({ group, resource }) => (
                <li key={`${group}/${resource}`}>
                  <BoundResource
                    workspace={workspace}
                    found={found}
                    group={group}
                    resource={resource}
                    onFollow={onClose}
                  />
                </li>
              ))}
            </ul>
          </>
        )}
      </Progress>
      <footer>
        <span class="grow">
          <ObjectLink workspace={workspace} id={BINDINGS} name={name} text={words.show} part="kcp" onFollow={onClose} />
        </span>
        <button type="button" class="primary" onClick={onClose}>
          {texts.close}
        </button>
      </footer>
    </div>
  );
}
