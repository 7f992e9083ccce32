import { useRef, useState } from "preact/hooks";
import { discovery } from "../../api/discovery.ts";
import { liveObject } from "../../api/live-list.ts";
import { collectionPath } from "../../api/objects.ts";
import type { Condition, KubernetesObject } from "../../api/types.ts";
import { phaseOf, WORKSPACES, type Workspace } from "../../workspaces/workspace.ts";
import { Phase } from "../binding/binding-part.tsx";
import { MOUNTS, SECRETS } from "../kinds.ts";
import { ObjectLink, WorkspaceLink } from "../links.tsx";
import { texts } from "../texts.ts";
import { BindMounts, type BindMountsProps } from "./bind-mounts.tsx";
import { type FormProps, MadeDialog, type MadeDialogProps } from "./made-dialog.tsx";
import { MountForm } from "./mount-form.tsx";
import { Progress } from "./progress.tsx";

/** Mounts another API server as a workspace; binds the export of Mounts first if it is not bound. */
export function MountDialog({ workspace, onClose }: MadeDialogProps) {
  /** Removes what the dialog has begun and not finished. */
  const undo = useRef<() => void>(undefined);
  const [host, setHost] = useState("");
  const close = () => {
    undo.current?.();
    onClose();
  };
  return (
    <MadeDialog
      heading={texts.mountDialog.heading(workspace)}
      onClose={close}
      form={(onMade) => (
        <WhenServed workspace={workspace} onClose={close} onMade={onMade} undo={undo} onHost={setHost} />
      )}
      made={(name) => <Mounted workspace={workspace} name={name} host={host} onClose={onClose} />}
    />
  );
}

interface WhenServedProps extends FormProps, Pick<BindMountsProps, "undo"> {
  readonly onHost: (host: string) => void;
}

function WhenServed({ workspace, onClose, onMade, undo, onHost }: WhenServedProps) {
  const found = discovery(workspace).value;
  const isServed = found.resources.some(
    ({ group, resource }) => group === MOUNTS.group && resource === MOUNTS.resource,
  );
  if (found.state === "loading")
    return (
      <p class="made muted" role="status">
        {texts.loading}
      </p>
    );
  if (!isServed) return <BindMounts workspace={workspace} onClose={onClose} undo={undo} />;
  return <MountForm workspace={workspace} onClose={onClose} onMade={onMade} onHost={onHost} />;
}

interface Mount extends KubernetesObject {
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

interface MountedProps extends MadeDialogProps {
  readonly name: string;
  /** Host of the target. */
  readonly host: string;
}

function Mounted({ workspace, name, host, onClose }: MountedProps) {
  const read = <T extends KubernetesObject>(resource: typeof MOUNTS | typeof WORKSPACES) =>
    liveObject<T>(collectionPath({ workspace, resource, namespace: "" }), name).value.items[0];
  const mount = read<Mount>(MOUNTS);
  const child = read<Workspace>(WORKSPACES);
  const isReady = mount?.status?.phase === "Ready" && child?.status?.phase === "Ready";
  const { conditions = [] } = mount?.status ?? {};
  const problem = isReady
    ? undefined
    : conditions.find(({ status, reason }) => status === "False" && reason === "Unreachable");
  const words = texts.mountDialog;
  return (
    <div class="made">
      <Progress
        // The problem is said above.
        conditions={conditions.filter(({ message }) => problem === undefined || message !== problem.message)}
        isDone={isReady}
        problem={problem === undefined ? undefined : `${host}: ${problem.message ?? ""}`}
        waiting={words.waiting}
        done={words.done(name)}
      >
        <p>
          {words.mount}: <Phase phase={mount?.status?.phase} /> {words.workspace}:{" "}
          <Phase phase={child === undefined ? undefined : phaseOf(child)} />
        </p>
        {problem !== undefined && (
          <p>
            <ObjectLink
              workspace={workspace}
              id={SECRETS}
              namespace="default"
              name={name}
              text={words.edit}
              part="yaml"
              onFollow={onClose}
            />
          </p>
        )}
        {isReady && (
          <p>
            <WorkspaceLink workspace={`${workspace}:${name}`} text={words.enter} onFollow={onClose} />
          </p>
        )}
      </Progress>
      <footer>
        <span class="grow">
          <ObjectLink workspace={workspace} id={MOUNTS} name={name} text={words.show} onFollow={onClose} />
        </span>
        <button type="button" class="primary" onClick={onClose}>
          {texts.close}
        </button>
      </footer>
    </div>
  );
}
