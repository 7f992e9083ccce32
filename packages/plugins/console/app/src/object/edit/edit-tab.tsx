import { useEffect, useMemo, useState } from "preact/hooks";
import { useMay } from "../../api/access.ts";
import { asStatusError, type StatusError } from "../../api/client.ts";
import type { Resource } from "../../api/discovery.ts";
import type { ObjectAddress } from "../../api/objects.ts";
import { announce, confirmDone } from "../../ui/announce.tsx";
import { yamlTexts } from "../editor/texts.ts";
import { WrapSwitch, YamlEditor } from "../editor/yaml-editor.tsx";
import type { LiveObject, WholeObject } from "../live-object.ts";
import { useSchema } from "../schema/use-schema.ts";
import { parseText, type TextProblem } from "../yaml/parse.ts";
import { type Draft, draftOf } from "./draft.ts";
import { Outdated } from "./outdated.tsx";
import { Review } from "./review.tsx";
import { sendDraft } from "./send.ts";
import { areAllPlaced, problemsOf } from "./server-problems.ts";

interface EditTabProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
  readonly live: LiveObject;
  readonly resource: Resource | undefined;
}

const NONE: readonly TextProblem[] = [];

/** The YAML of an object, to read and to edit. */
export function EditTab({ address, object, live, resource }: EditTabProps) {
  const draft = useMemo(
    () => draftOf(address, object, resource?.subresources.includes("status") === true),
    [address, object.metadata.uid],
  );
  useEffect(() => draft.receive(object), [draft, object]);
  const { schema } = useSchema(address.workspace, address.resource, object.kind);
  const [review, setReview] = useState<WholeObject>();
  const [error, setError] = useState<StatusError>();
  const [problems, setProblems] = useState(NONE);
  const [isBusy, setBusy] = useState(false);
  const [attempts, setAttempts] = useState(0);
  const canUpdate = live.state !== "deleted" && resource?.verbs.includes("update") !== false;
  /** What had the focus is gone: after a review, and with the buttons that say what to do about changes of others. */
  const [focusRequests, setFocusRequests] = useState(0);
  const focusEditor = () => setFocusRequests((count) => count + 1);
  const mayUpdate = useMay("update", address);
  const mayEdit = canUpdate && mayUpdate && !draft.shown.value.serverFields;
  const isDirty = draft.isDirty.value;
  const words = yamlTexts;

  const fail = (cause: unknown) => {
    const status = asStatusError(cause);
    setReview(undefined);
    focusEditor();
    const placed = problemsOf(status, parseText(draft.text.peek()).document);
    setProblems(placed);
    if (areAllPlaced(status, placed)) announce(status.message);
    else setError(status);
  };
  const startReview = async () => {
    if (isBusy || !draft.isDirty.peek()) return;
    const invalid = parseText(draft.text.peek()).problems.filter(({ severity }) => severity === "error");
    setError(undefined);
    setProblems(NONE);
    const [first] = invalid;
    if (first !== undefined) {
      announce(first.message);
      return setProblems(invalid);
    }
    if (draft.isOutdated.peek()) return setAttempts((count) => count + 1);
    setBusy(true);
    try {
      setReview(await sendDraft(draft, address, { isDryRun: true }));
    } catch (cause) {
      fail(cause);
    } finally {
      setBusy(false);
    }
  };
  const save = async () => {
    setBusy(true);
    try {
      const saved = await sendDraft(draft, address, { isDryRun: false });
      draft.receive(saved);
      draft.takeTheirs();
      setReview(undefined);
      focusEditor();
      if (live.state === "static") live.reload();
      confirmDone(words.saved);
    } catch (cause) {
      fail(cause);
    } finally {
      setBusy(false);
    }
  };
  if (review !== undefined)
    return (
      <Review
        before={draft.newest.value}
        after={review}
        shown={draft.shown.value}
        isBusy={isBusy}
        onSave={() => void save()}
        onBack={() => {
          setReview(undefined);
          focusEditor();
        }}
      />
    );
  return (
    <div class="edit">
      <EditTools
        draft={draft}
        mayEdit={mayEdit}
        reason={draft.shown.value.serverFields ? words.hideToEdit : mayUpdate ? words.readOnly : words.forbidden}
        isBusy={isBusy}
        onReview={() => void startReview()}
        onDiscard={() => {
          draft.takeTheirs();
          focusEditor();
        }}
      />
      <YamlEditor
        text={draft.text}
        label={words.label(object.kind, address.name)}
        isReadOnly={!mayEdit}
        isChecked
        schema={schema}
        problems={problems}
        focusRequests={focusRequests}
        onChange={(text) => {
          draft.text.value = text;
          // They are about the text before.
          setError(undefined);
          setProblems(NONE);
        }}
        onSubmit={() => void startReview()}
      />
      {isDirty && <p class="hint">{words.keys}</p>}
      <div class="object-notes">
        {error !== undefined && !(error.code === 409 && draft.isOutdated.value) && (
          <p class="object-note failed" role="alert">
            {error.message}
          </p>
        )}
        {draft.isOutdated.value && (
          <Outdated
            draft={draft}
            attempts={attempts}
            onDone={() => {
              setAttempts(0);
              focusEditor();
            }}
          />
        )}
      </div>
    </div>
  );
}

interface EditToolsProps {
  readonly draft: Draft;
  readonly mayEdit: boolean;
  /** Why the text cannot be edited. */
  readonly reason: string;
  readonly isBusy: boolean;
  readonly onReview: () => void;
  readonly onDiscard: () => void;
}

function EditTools({ draft, mayEdit, reason, isBusy, onReview, onDiscard }: EditToolsProps) {
  const words = yamlTexts;
  const isDirty = draft.isDirty.value;
  const shown = draft.shown.value;
  return (
    <div class="edit-tools">
      <button type="button" class="primary" disabled={!isDirty || isBusy || !mayEdit} onClick={onReview}>
        {isBusy ? words.reviewing : words.review}
      </button>
      <button type="button" disabled={!isDirty || isBusy} onClick={onDiscard}>
        {words.discard}
      </button>
      <span class="muted" role="status">
        {isDirty ? words.changed : mayEdit ? "" : reason}
      </span>
      <span class="checks">
        <WrapSwitch />
        <label class="check">
          <input
            type="checkbox"
            checked={shown.serverFields}
            disabled={isDirty}
            onChange={({ currentTarget }) => draft.setShown({ ...shown, serverFields: currentTarget.checked })}
          />
          {words.serverFields}
        </label>
      </span>
    </div>
  );
}
