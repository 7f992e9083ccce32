import { discovery } from "../../api/discovery.ts";
import { liveObject } from "../../api/live-list.ts";
import { collectionPath } from "../../api/objects.ts";
import type { Condition, KubernetesObject } from "../../api/types.ts";
import { phaseOf, WORKSPACES, type Workspace } from "../../workspaces/workspace.ts";
import { Phase } from "../binding/binding-part.tsx";
import { MOUNTS } from "../kinds.ts";
import { ObjectLink, WorkspaceLink } from "../links.tsx";
import { texts } from "../texts.ts";
import { BindMounts } from "./bind-mounts.tsx";
import { type FormProps, MadeDialog, type MadeDialogProps } from "./made-dialog.tsx";
import { MountForm } from "./mount-form.tsx";
import { Progress } from "./progress.tsx";

/** Mounts another API server as a workspace; binds the export of Mounts first if it is not bound. */
export function MountDialog({ workspace, onClose }: MadeDialogProps) {
  return (
    <MadeDialog
      heading={texts.mountDialog.heading(workspace)}
      onClose={onClose}
      form={(onMade) => <WhenServed workspace={workspace} onClose={onClose} onMade={onMade} />}
      made={(name) => <Mounted workspace={workspace} name={name} onClose={onClose} />}
    />
  );
}

function WhenServed({ workspace, onClose, onMade }: FormProps) {
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
  if (!isServed) return <BindMounts workspace={workspace} onClose={onClose} />;
  return <MountForm workspace={workspace} onClose={onClose} onMade={onMade} />;
}

interface Mount extends KubernetesObject {
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

function Mounted({ workspace, name, onClose }: MadeDialogProps & { readonly name: string }) {
  const read = <T extends KubernetesObject>(resource: typeof MOUNTS | typeof WORKSPACES) =>
    liveObject<T>(collectionPath({ workspace, resource, namespace: "" }), name).value.items[0];
  const mount = read<Mount>(MOUNTS);
  const child = read<Workspace>(WORKSPACES);
  const isReady = mount?.status?.phase === "Ready" && child?.status?.phase === "Ready";
  const words = texts.mountDialog;
  return (
    <div class="made">
      <Progress
        conditions={mount?.status?.conditions ?? []}
        isDone={isReady}
        waiting={words.waiting}
        done={words.done(name)}
      >
        <p>
          {words.mount}: <Phase phase={mount?.status?.phase} /> {words.workspace}:{" "}
          <Phase phase={child === undefined ? undefined : phaseOf(child)} />
        </p>
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
