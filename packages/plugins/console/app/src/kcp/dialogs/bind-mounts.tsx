import { useState } from "preact/hooks";
import { asStatusError, type StatusError } from "../../api/client.ts";
import { liveObject } from "../../api/live-list.ts";
import { collectionPath, createObject } from "../../api/objects.ts";
import { type ApiBinding, BINDINGS } from "../kinds.ts";
import { texts } from "../texts.ts";
import { NotAllowed } from "./not-allowed.tsx";
import { Progress } from "./progress.tsx";

interface BindMountsProps {
  readonly workspace: string;
  readonly onClose: () => void;
}

const NAME = "mounts";

/** Offers to bind the export of Mounts. The dialog goes on when the workspace serves them. */
export function BindMounts({ workspace, onClose }: BindMountsProps) {
  const [error, setError] = useState<StatusError>();
  const [isAsked, setAsked] = useState(false);
  const words = texts.mountDialog.bind;
  const bind = async () => {
    setAsked(true);
    setError(undefined);
    try {
      await createObject(
        { workspace, resource: BINDINGS, namespace: "" },
        {
          apiVersion: "apis.kcp.io/v1alpha2",
          kind: "APIBinding",
          metadata: { name: NAME },
          spec: { reference: { export: { path: "root", name: "proxy.kcp.io" } } },
        },
      );
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
      <p>{words.why(workspace)}</p>
      <NotAllowed workspace={workspace} id={BINDINGS} />
      {isAsked && <Waiting workspace={workspace} />}
      <p class="error" role="alert">
        {error?.message}
      </p>
      <footer>
        <button type="button" onClick={onClose}>
          {texts.cancel}
        </button>
        <button type="button" class="primary" disabled={isAsked} onClick={() => void bind()}>
          {words.submit}
        </button>
      </footer>
    </div>
  );
}

function Waiting({ workspace }: { readonly workspace: string }) {
  const path = collectionPath({ workspace, resource: BINDINGS, namespace: "" });
  const binding = liveObject<ApiBinding>(path, NAME).value.items[0];
  const conditions = (binding?.status?.conditions ?? []).filter(({ status }) => status !== "True");
  const words = texts.mountDialog.bind;
  return (
    <Progress
      conditions={conditions}
      isDone={binding?.status?.phase === "Bound"}
      waiting={words.waiting}
      done={words.done}
    />
  );
}
