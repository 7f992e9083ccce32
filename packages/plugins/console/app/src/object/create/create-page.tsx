import "../object.css";
import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { ResourceId } from "../../api/base.ts";
import { asStatusError, type StatusError } from "../../api/client.ts";
import { discovery, findResource, type Resource } from "../../api/discovery.ts";
import { navigate, route, routeHash, routeTo, withQuery } from "../../route.ts";
import { texts } from "../../texts.ts";
import { announce, confirmDone } from "../../ui/announce.tsx";
import { Icon } from "../../ui/icons.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Review } from "../edit/review.tsx";
import { areAllPlaced, problemsOf } from "../edit/server-problems.ts";
import { changeTexts, yamlTexts } from "../editor/texts.ts";
import { WrapSwitch, YamlEditor } from "../editor/yaml-editor.tsx";
import { createExactly } from "../exact-numbers.ts";
import type { WholeObject } from "../live-object.ts";
import { guard, memory } from "../memory.ts";
import type { FieldSchema } from "../schema/schema.ts";
import { templateOf } from "../schema/template.ts";
import { useSchema } from "../schema/use-schema.ts";
import { textOf } from "../yaml/object-text.ts";
import { parseText, type TextProblem } from "../yaml/parse.ts";

interface CreateProps {
  readonly workspace: string;
  readonly id: ResourceId;
}

/** Creates an object from YAML. */
export function CreatePage({ workspace, id }: CreateProps) {
  const found = discovery(workspace).value;
  const resource = findResource(found, id);
  const back = routeHash(withQuery(route.value, { view: undefined }));
  return (
    <article class="object-page" aria-label={texts.object.create.heading(resource?.kind ?? id.resource)}>
      <header>
        <a href={back} class="back">
          <Icon name="previous" />
          {texts.object.back(id.resource)}
        </a>
        <h2>{texts.object.create.heading(resource?.kind ?? id.resource)}</h2>
      </header>
      {found.error !== undefined && <Problem error={found.error} onRetry={found.reload} />}
      {found.state === "loading" && <p class="muted">{texts.loading}</p>}
      {found.state === "ready" && resource === undefined && <p class="empty">{texts.object.create.unknown}</p>}
      {resource !== undefined && <CreateForm workspace={workspace} resource={resource} />}
    </article>
  );
}

interface Reviewed {
  readonly typed: WholeObject;
  readonly result: WholeObject;
}

const NONE: readonly TextProblem[] = [];
const SHOWN = { serverFields: false, status: true };

/** Texts that have been begun, by kind: they stay while the page is open. */
const begun = memory<string, string>();
guard(() => begun.size > 0);

function CreateForm({ workspace, resource }: { readonly workspace: string; readonly resource: Resource }) {
  const { schema, isLoading } = useSchema(workspace, resource, resource.kind);
  const key = `${workspace} ${resource.group} ${resource.version} ${resource.resource}`;
  const text = useSignal(begun.get(key) ?? "");
  const isChanged = useSignal(begun.has(key));
  const change = (next: string) => {
    isChanged.value = next !== beginning(resource, schema);
    if (isChanged.peek()) begun.set(key, next);
    else begun.delete(key);
    text.value = next;
  };
  const [problems, setProblems] = useState(NONE);
  const [error, setError] = useState<StatusError>();
  const [reviewed, setReviewed] = useState<Reviewed>();
  const [answer, setAnswer] = useState<WholeObject>();
  const [isBusy, setBusy] = useState(false);
  const words = texts.object.create;
  useEffect(() => {
    if (!isLoading && text.peek() === "") text.value = beginning(resource, schema);
  }, [isLoading, text, resource, schema]);
  const restart = () => {
    setError(undefined);
    setProblems(NONE);
    change(beginning(resource, schema));
  };

  const attempt = async (act: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    setProblems(NONE);
    try {
      await act();
    } catch (cause) {
      const status = asStatusError(cause);
      setReviewed(undefined);
      const placed = problemsOf(status, parseText(text.peek()).document);
      setProblems(placed);
      if (areAllPlaced(status, placed)) announce(status.message);
      else setError(status);
    } finally {
      setBusy(false);
    }
  };
  const review = () => {
    if (isBusy) return;
    const parsed = parseText(text.peek());
    const invalid = parsed.problems.filter(({ severity }) => severity === "error");
    const [first] = invalid;
    if (first !== undefined) {
      setProblems(invalid);
      announce(first.message);
      return;
    }
    const typed = parsed.value as WholeObject;
    void attempt(async () => {
      setReviewed({ typed, result: await create(typed, { workspace, resource, isDryRun: true }) });
    });
  };
  const save = ({ typed }: Reviewed) =>
    attempt(async () => {
      const stored = await create(typed, { workspace, resource, isDryRun: false });
      begun.delete(key);
      isChanged.value = false;
      // Reviews are answered, and not stored.
      if (!resource.verbs.includes("get")) {
        setReviewed(undefined);
        setAnswer(stored);
        return;
      }
      const { metadata } = stored;
      confirmDone(words.done(metadata.name));
      const { group, version, resource: plural } = resource;
      const object = { namespace: metadata.namespace ?? "", name: metadata.name };
      navigate(routeTo({ workspace, resource: { group, version, resource: plural }, object }));
    });
  if (isLoading) return <p class="muted">{texts.loading}</p>;
  if (answer !== undefined) return <Answer object={answer} onBack={() => setAnswer(undefined)} />;
  if (reviewed !== undefined)
    return (
      <Review
        before={reviewed.typed}
        after={reviewed.result}
        shown={SHOWN}
        isNew
        isBusy={isBusy}
        onSave={() => void save(reviewed)}
        onBack={() => setReviewed(undefined)}
      />
    );
  return (
    <div class="edit">
      <div class="edit-tools">
        <button type="button" class="primary" disabled={isBusy} onClick={review}>
          {isBusy ? yamlTexts.reviewing : words.review}
        </button>
        <button type="button" disabled={isBusy} onClick={restart}>
          {words.restart}
        </button>
        <span class="muted" role="status">
          {isChanged.value && yamlTexts.changed}
        </span>
        <span class="checks">
          <WrapSwitch />
        </span>
      </div>
      <YamlEditor
        text={text}
        label={words.label(resource.kind)}
        isChecked
        schema={schema}
        problems={problems}
        onChange={(next) => {
          change(next);
          // They are about the text before.
          setError(undefined);
          setProblems(NONE);
        }}
        onSubmit={review}
      />
      <p class="hint">{yamlTexts.keys}</p>
      <div class="object-notes">
        {error !== undefined && (
          <p class="object-note failed" role="alert">
            {error.message}
          </p>
        )}
      </div>
    </div>
  );
}

/** What the server has answered to an object that it does not store. */
function Answer({ object, onBack }: { readonly object: WholeObject; readonly onBack: () => void }) {
  const text = useSignal(textOf(object, SHOWN));
  return (
    <div class="edit">
      <div class="edit-tools">
        <button type="button" onClick={onBack}>
          {changeTexts.review.back}
        </button>
        <strong role="status">{texts.object.create.answer}</strong>
      </div>
      <YamlEditor text={text} label={texts.object.create.answer} isReadOnly focusRequests={1} />
    </div>
  );
}

function beginning({ group, version, kind, isNamespaced, verbs }: Resource, schema: FieldSchema | undefined): string {
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const namespace = isNamespaced ? (route.peek().query.namespace ?? "default") : undefined;
  return templateOf({ apiVersion, kind, isStored: verbs.includes("get"), namespace, schema });
}

interface Creation {
  readonly workspace: string;
  readonly resource: Resource;
  readonly isDryRun: boolean;
}

function create(object: WholeObject, { workspace, resource, isDryRun }: Creation): Promise<WholeObject> {
  const given = (object.metadata as WholeObject["metadata"] | undefined)?.namespace;
  const namespace = resource.isNamespaced ? given || "default" : "";
  return createExactly({ workspace, resource, namespace }, { object, isDryRun });
}
