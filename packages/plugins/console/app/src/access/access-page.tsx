import "./access.css";
import { useMemo } from "preact/hooks";
import { resourcePath, workspacePath } from "../api/base.ts";
import type { Discovery } from "../api/discovery.ts";
import { type LiveList, liveList } from "../api/live-list.ts";
import type { KubernetesObject } from "../api/types.ts";
import { route, setQuery } from "../route.ts";
import { Problem } from "../ui/problem.tsx";
import { ActAs } from "./act-as.tsx";
import { GrantedBy, Grants, type RbacLists } from "./grants.tsx";
import { MyRules } from "./my-rules.tsx";
import { fieldsOf, fieldsText, nameOfResource, questionOf, subjectOf, textOf } from "./question.ts";
import { QuestionForm } from "./question-form.tsx";
import type { Binding, Role } from "./rbac.ts";
import { type Answer, mayI, mayThey, type Question, type Subject } from "./reviews.ts";
import { texts } from "./texts.ts";
import { useAnswer } from "./use-answer.ts";
import { WhoAmI } from "./who-am-i.tsx";

interface AccessPageProps {
  readonly workspace: string;
  readonly found: Discovery;
}

/** Who the user is in a workspace, what they may do there, and who may do something. */
export function AccessPage({ workspace, found }: AccessPageProps) {
  const text = route.value.query.ask ?? "";
  const fields = useMemo(() => fieldsOf(text), [text]);
  const resource = found.resources.find(({ group, resource }) => {
    const { group: ofGroup, resource: named } = questionOf(fields, true);
    return group === ofGroup && resource === named;
  });
  const question = useMemo(
    () => (fields.resource === "" ? undefined : questionOf(fields, resource?.isNamespaced !== false)),
    [fields, resource?.isNamespaced],
  );
  const subject = subjectOf(fields);
  const lists = useRbac(workspace, question?.namespace ?? "");
  const version = versionOf(lists);
  const namespaces = liveList(`${workspacePath(workspace)}/api/v1/namespaces`).value.items.map(
    ({ metadata }) => metadata.name,
  );
  const key = question === undefined ? undefined : JSON.stringify([workspace, question, subject]);
  const answer = useAnswer(key, () => answerOf(workspace, question as Question, subject), version);
  return (
    <div class="access">
      <WhoAmI workspace={workspace} />
      <section aria-labelledby="may">
        <h2 id="may">{texts.may.heading}</h2>
        <p class="hint">{texts.may.hint}</p>
        <QuestionForm
          fields={fields}
          found={found}
          namespaces={namespaces}
          isBusy={answer.isBusy}
          onSubmit={(next) => {
            const ask = fieldsText(next);
            if (ask === text) answer.again();
            else setQuery({ ask }, false);
          }}
        />
        <div role="status" aria-live="polite">
          {question !== undefined && answer.value !== undefined && (
            <AnswerText
              answer={answer.value}
              question={question}
              subject={subject}
              lists={lists}
              isServed={found.state !== "ready" || question.resource === "*" || resource !== undefined}
            />
          )}
        </div>
        {answer.error !== undefined && <Problem error={answer.error} onRetry={answer.again} />}
      </section>
      {question !== undefined && <Grants workspace={workspace} question={question} lists={lists} />}
      <MyRules workspace={workspace} namespaces={namespaces} version={version} />
      <ActAs workspace={workspace} />
    </div>
  );
}

function answerOf(workspace: string, question: Question, subject: Subject | undefined) {
  return subject === undefined ? mayI(workspace, question) : mayThey(workspace, question, subject);
}

interface AnswerTextProps {
  readonly answer: Answer | { readonly missing: string };
  readonly question: Question;
  readonly subject: Subject | undefined;
  readonly lists: RbacLists;
  /** Whether the workspace has the resource. */
  readonly isServed: boolean;
}

function AnswerText({ answer, question, subject, lists, isServed }: AnswerTextProps) {
  const words = texts.may;
  if ("missing" in answer) return <p class="notice">{words.noRight(answer.missing)}</p>;
  const who = subject === undefined ? words.you : subject.user || subject.groups.join(", ");
  const { allowed, reason = "", evaluationError = "" } = answer;
  return (
    <div class="answer">
      <p>
        <span class={`badge ${allowed ? "good" : "failed"}`}>{allowed ? words.yes : words.no}</span>{" "}
        {words.answer(who, allowed, textOf(question))}
      </p>
      {!isServed && <p class="hint">{words.notServed(nameOfResource({ ...question, subresource: "" }))}</p>}
      {allowed && <GrantedBy question={question} subject={subject} lists={lists} />}
      {reason !== "" && <p class="hint">{reason}</p>}
      {evaluationError !== "" && <p class="notice">{words.unclear(evaluationError)}</p>}
    </div>
  );
}

/** Lists of RBAC that decide in a namespace, live; none of a namespace for "". */
function useRbac(workspace: string, namespace: string): RbacLists {
  const list = <T extends KubernetesObject>(resource: string, within = ""): LiveList<T> => {
    const id = { group: "rbac.authorization.k8s.io", version: "v1", resource };
    return liveList<T>(`${workspacePath(workspace)}/${resourcePath(id, { namespace: within })}`).value;
  };
  return {
    clusterRoles: list<Role>("clusterroles"),
    clusterRoleBindings: list<Binding>("clusterrolebindings"),
    roles: namespace === "" ? undefined : list<Role>("roles", namespace),
    roleBindings: namespace === "" ? undefined : list<Binding>("rolebindings", namespace),
  };
}

/** Changes when bindings or roles change: the server's answers may be others then. */
function versionOf(lists: RbacLists): string {
  const all: readonly (LiveList<KubernetesObject> | undefined)[] = Object.values(lists);
  return all
    .flatMap((list) => (list?.items ?? []).map(({ metadata }) => metadata.resourceVersion ?? ""))
    .reduce((sum, version) => (Math.imul(sum, 31) + Number(version)) | 0, 0)
    .toString();
}
