import { useEffect, useState } from "preact/hooks";
import type { Discovery } from "../api/discovery.ts";
import { TextField } from "../kcp/dialogs/text-field.tsx";
import { type AccessFields, NOTHING, nameOfResource, withUser } from "./question.ts";
import { texts } from "./texts.ts";

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*"] as const;
/** Verbs that only authorizers know. */
const OTHER_VERBS = ["bind", "escalate", "impersonate", "use"] as const;

interface QuestionFormProps {
  /** The question of the address. */
  readonly fields: AccessFields;
  readonly found: Discovery;
  readonly namespaces: readonly string[];
  readonly isBusy: boolean;
  readonly onSubmit: (fields: AccessFields) => void;
}

/** The fields of a question. It is sent on Enter, or by the button. */
export function QuestionForm({ fields, found, namespaces, isBusy, onSubmit }: QuestionFormProps) {
  const words = texts.may;
  const [typed, setTyped] = useState<AccessFields>(fields.resource === "" ? NOTHING : fields);
  const [error, setError] = useState<string>();
  const text = JSON.stringify(fields);
  useEffect(() => {
    if (fields.resource !== "") setTyped(fields);
  }, [text]);
  const set = (name: keyof AccessFields) => (value: string) => setTyped((last) => ({ ...last, [name]: value }));
  const submit = (event: Event) => {
    event.preventDefault();
    const isComplete = typed.verb.trim() !== "" && typed.resource.trim() !== "";
    setError(isComplete ? undefined : words.incomplete);
    if (isComplete) onSubmit(typed);
  };
  const field = (name: keyof AccessFields) => ({ label: words[name], value: typed[name], onValue: set(name) });
  return (
    <form class="access-form" onSubmit={submit}>
      <TextField {...field("verb")} options={[...VERBS, ...OTHER_VERBS]} />
      <TextField {...field("resource")} options={namesOf(found)} hint={words.resourceHint} error={error} />
      <TextField {...field("namespace")} options={namespaces} hint={words.namespaceHint} />
      <TextField {...field("name")} hint={words.nameHint} />
      <TextField
        {...field("user")}
        onValue={(user) => setTyped((last) => withUser(last, user))}
        hint={words.userHint}
      />
      <TextField {...field("groups")} hint={words.groupsHint} />
      <button type="submit" class="primary" disabled={isBusy}>
        {isBusy ? words.busy : words.submit}
      </button>
    </form>
  );
}

function namesOf({ resources }: Discovery): readonly string[] {
  const names = resources.flatMap(({ group, resource, subresources }) =>
    ["", ...subresources].map((subresource) =>
      nameOfResource({ verb: "", group, resource, subresource, namespace: "", name: "" }),
    ),
  );
  return [...new Set(names)];
}
