import { useState } from "preact/hooks";
import { discovery } from "../../api/discovery.ts";
import { liveList, liveObject } from "../../api/live-list.ts";
import { collectionPath } from "../../api/objects.ts";
import { treeRows } from "../../workspaces/tree-model.ts";
import { type Answer, answerTo } from "../binding/answer.ts";
import { BoundResource, Phase } from "../binding/binding-part.tsx";
import { type ApiBinding, type ApiExport, BINDINGS, EXPORTS, keyOfClaim } from "../kinds.ts";
import { ObjectLink, placeOf } from "../links.tsx";
import { everywhere } from "../lists.ts";
import { texts } from "../texts.ts";
import { ClaimChoices } from "./claim-choices.tsx";
import type { Made } from "./create-all.ts";
import { type FormProps, MadeDialog, type MadeDialogProps, useForm } from "./made-dialog.tsx";
import { NotAllowed } from "./not-allowed.tsx";
import { Progress } from "./progress.tsx";
import { TextField } from "./text-field.tsx";
import { useSettled } from "./use-settled.ts";

interface BindProps extends MadeDialogProps {
  /** The export, if it is known. */
  readonly reference?: { readonly path: string; readonly name: string };
  /** Leads back to the choice of the workspace. */
  readonly onBack?: () => void;
}

type FormField = "path" | "name" | "binding" | "claims";

/** Binds an export in a workspace, and says what becomes of the binding. */
export function BindDialog({ workspace, reference, onClose, onBack }: BindProps) {
  return (
    <MadeDialog
      heading={texts.bindDialog.heading(workspace)}
      onClose={onClose}
      form={(onMade) => (
        <BindForm
          workspace={workspace}
          {...(reference !== undefined && { reference })}
          {...(onBack !== undefined && { onBack })}
          onClose={onClose}
          onMade={onMade}
        />
      )}
      made={(name) => <Bound workspace={workspace} name={name} onClose={onClose} />}
    />
  );
}

function BindForm({ workspace, reference, onClose, onBack, onMade }: BindProps & FormProps) {
  const [path, setPath] = useState(reference?.path ?? "");
  const [name, setName] = useState(reference?.name ?? "");
  const [typedBinding, setBinding] = useState<string>();
  const [answers, setAnswers] = useState<Readonly<Record<string, Answer>>>({});
  const form = useForm<FormField>({ workspace, onMade, fieldOf, other: "binding" });
  const { problems, isBusy } = form;
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
  const submit = (event: Event) => {
    event.preventDefault();
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
    void form.create([{ resource: BINDINGS, object }], { name: binding, text: words.created(binding) });
  };
  const change = (set: (value: string) => void) => form.change((value: string) => set(value.trim()));
  const places = [...new Set(exports.items.map(placeOf))].sort();
  const names = exports.items.filter((one) => placeOf(one) === path).map(({ metadata }) => metadata.name);
  const isUnknown = known !== undefined && known.items.length === 0 && known.state !== "loading";
  const hasFailed = problems.name !== undefined || problems.path !== undefined;
  const isMissing = known?.state === "live" && known.items.length === 0;
  const nameProblem =
    problems.name !== undefined && isMissing ? `${words.unknown(name, path)}\n${problems.name}` : problems.name;
  const bindings = liveList<ApiBinding>(collectionPath({ workspace, resource: BINDINGS, namespace: "" })).value.items;
  const bound = bindings
    .filter(({ spec }) => spec?.reference?.export?.path === at.path && spec.reference.export.name === at.name)
    .map(({ metadata }) => metadata.name);
  const mistaken =
    isName(path) && !places.includes(path) && (isUnknown || hasFailed) ? nameError(path, places) : undefined;
  return (
    <form onSubmit={submit}>
      <NotAllowed workspace={workspace} id={BINDINGS} />
      <TextField
        label={words.path}
        hint={words.pathHint}
        error={mistaken ?? problems.path}
        options={places}
        isRequired
        value={path}
        onValue={change(setPath)}
      />
      <TextField
        label={words.name}
        {...(bound.length > 0 && { hint: words.bound(workspace, bound) })}
        error={mistaken === undefined ? nameProblem : undefined}
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
      <ClaimChoices
        known={mistaken === undefined ? known : undefined}
        answers={answers}
        onAnswers={setAnswers}
        error={problems.claims}
      />
      <footer>
        {onBack !== undefined && (
          <button type="button" class="grow" onClick={onBack}>
            {texts.back}
          </button>
        )}
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

/** True for what may be the name of a workspace in place of its path. */
const isName = (path: string): boolean => path !== "" && path !== "root" && !path.includes(":");

/** An error for a name in place of a path, with the paths of the workspaces that have this name, as far as the page knows them. */
export function nameError(name: string, places: readonly string[]): string {
  const known = [...places, ...treeRows.value.map(({ path }) => path)];
  const paths = [...new Set(known.filter((path) => path.endsWith(`:${name}`)))];
  return texts.bindDialog.notPath(name, paths);
}

function fieldOf(_: Made, field: string, error: unknown): FormField {
  if (field.startsWith("spec.permissionClaims")) return "claims";
  if (field.startsWith("spec.reference.export.path")) return "path";
  if (field.startsWith("spec.reference")) return "name";
  // Without the right to bind, and for an export that does not exist, the server answers alike.
  return error instanceof Error && /permission to bind|APIExport/i.test(error.message) ? "name" : "binding";
}

interface BoundProps extends MadeDialogProps {
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
