import { useEffect, useState } from "preact/hooks";
import { asStatusError, type StatusError } from "../../api/client.ts";
import { liveObject } from "../../api/live-list.ts";
import { collectionPath, createObject, deleteObject, type ObjectAddress, readObject } from "../../api/objects.ts";
import { type ApiBinding, type ApiExport, BINDINGS, EXPORTS } from "../kinds.ts";
import { texts } from "../texts.ts";
import { NotAllowed } from "./not-allowed.tsx";
import { Progress } from "./progress.tsx";

export interface BindMountsProps {
  readonly workspace: string;
  readonly onClose: () => void;
  /** Gets a function that removes the binding that this dialog has made, as long as nothing is bound. */
  readonly undo: { current: (() => void) | undefined };
}

const NAME = "mounts";
const EXPORT = { workspace: "root", resource: EXPORTS, namespace: "", name: "proxy.kcp.io" } as const;

/** Offers to bind the export of Mounts. The dialog goes on when the workspace serves them. */
export function BindMounts({ workspace, onClose, undo }: BindMountsProps) {
  const [error, setError] = useState<StatusError>();
  const [isAsked, setAsked] = useState(false);
  const hasExport = useHasExport();
  const path = collectionPath({ workspace, resource: BINDINGS, namespace: "" });
  const binding = liveObject<ApiBinding>(path, NAME).value.items[0];
  const conditions = (binding?.status?.conditions ?? []).filter(({ status }) => status !== "True");
  // All users may bind the export, so to those who may not read the exports of root the server says that it is not there.
  const isForbidden = error?.code === 403 && /permission to bind/i.test(error.message);
  const isMissing =
    hasExport === false || isForbidden || conditions.some(({ reason }) => reason === "APIExportNotFound");
  const isBound = binding?.status?.phase === "Bound";
  const words = texts.mountDialog.bind;
  useEffect(() => {
    if (isBound) undo.current = undefined;
  }, [isBound, undo]);
  const bind = async () => {
    setAsked(true);
    setError(undefined);
    try {
      const { metadata } = await createObject(
        { workspace, resource: BINDINGS, namespace: "" },
        {
          apiVersion: "apis.kcp.io/v1alpha2",
          kind: "APIBinding",
          metadata: { name: NAME },
          spec: { reference: { export: { path: EXPORT.workspace, name: EXPORT.name } } },
        },
      );
      const made: ObjectAddress = { workspace, resource: BINDINGS, namespace: "", name: NAME };
      undo.current = () => void deleteObject(made, metadata.uid).catch(() => undefined);
    } catch (cause) {
      const status = asStatusError(cause);
      // It is there, maybe not bound yet: its conditions tell.
      if (status.code === 409) return;
      setError(status);
      setAsked(false);
    }
  };
  return (
    <div class="made">
      {hasExport === undefined && <p class="muted">{texts.loading}</p>}
      {isMissing && <p class="not-allowed">{words.missing}</p>}
      {hasExport !== undefined && !isMissing && (
        <>
          <p>{words.why(workspace)}</p>
          <NotAllowed workspace={workspace} id={BINDINGS} />
          {isAsked && <Progress conditions={conditions} isDone={isBound} waiting={words.waiting} done={words.done} />}
        </>
      )}
      <p class="error" role="alert">
        {error?.message}
      </p>
      <footer>
        <button type="button" onClick={onClose}>
          {isMissing ? texts.close : texts.cancel}
        </button>
        {hasExport !== undefined && !isMissing && (
          <button type="button" class="primary" disabled={isAsked} onClick={() => void bind()}>
            {words.submit}
          </button>
        )}
      </footer>
    </div>
  );
}

/** Whether the server has the export of Mounts; true if the user may not read that, and undefined until it is known. */
function useHasExport(): boolean | undefined {
  const [hasExport, setExport] = useState<boolean>();
  useEffect(() => {
    const stop = new AbortController();
    readObject<ApiExport>(EXPORT, stop.signal).then(
      () => setExport(true),
      (cause) => {
        if (!stop.signal.aborted) setExport(asStatusError(cause).code !== 404);
      },
    );
    return () => stop.abort();
  }, []);
  return hasExport;
}
