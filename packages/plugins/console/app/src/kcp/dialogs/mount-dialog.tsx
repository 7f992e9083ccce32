import { useRef, useState } from "preact/hooks";
import { discovery } from "../../api/discovery.ts";
import { liveObject } from "../../api/live-list.ts";
import { collectionPath } from "../../api/objects.ts";
import type { Condition, KubernetesObject } from "../../api/types.ts";
import { phaseOf, WORKSPACES, type Workspace } from "../../workspaces/workspace.ts";
import { Phase } from "../binding/binding-part.tsx";
import { MOUNTS } from "../kinds.ts";
import { ObjectLink, WorkspaceLink } from "../links.tsx";
import { texts } from "../texts.ts";
import { BindMounts, type BindMountsProps } from "./bind-mounts.tsx";
import { MadeDialog, type MadeDialogProps } from "./made-dialog.tsx";
import { MountForm, type MountFormProps, NO_VALUES } from "./mount-form.tsx";
import { Remedies } from "./mount-remedies.tsx";
import { Progress } from "./progress.tsx";

/** Mounts another API server as a workspace; binds the export of Mounts first if it is not bound. */
export function MountDialog({ workspace, onClose }: MadeDialogProps) {
  /** Removes what the dialog has begun and not finished. */
  const undo = useRef<() => void>(undefined);
  const [host, setHost] = useState("");
  const [values, setValues] = useState(NO_VALUES);
  const [isCorrection, setCorrection] = useState(false);
  const close = () => {
    undo.current?.();
    onClose();
  };
  return (
    <MadeDialog
      heading={texts.mountDialog.heading(workspace)}
      onClose={close}
      form={(onMade) => (
        <WhenServed
          {...{ workspace, onMade, undo, values, isCorrection }}
          onClose={close}
          onHost={setHost}
          onValues={setValues}
        />
      )}
      made={(name, onBack) => (
        <Mounted
          {...{ workspace, name, host, onClose }}
          onCorrect={() => {
            setCorrection(true);
            onBack();
          }}
        />
      )}
    />
  );
}

function WhenServed({ undo, ...form }: MountFormProps & Pick<BindMountsProps, "undo">) {
  const { workspace, onClose } = form;
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
  return <MountForm {...form} />;
}

interface Mount extends KubernetesObject {
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

interface MountedProps extends MadeDialogProps {
  readonly name: string;
  /** Host of the target. */
  readonly host: string;
  /** Leads back to the form. */
  readonly onCorrect: () => void;
}

function Mounted({ workspace, name, host, onClose, onCorrect }: MountedProps) {
  const read = <T extends KubernetesObject>(resource: typeof MOUNTS | typeof WORKSPACES) =>
    liveObject<T>(collectionPath({ workspace, resource, namespace: "" }), name).value.items[0];
  const mount = read<Mount>(MOUNTS);
  const child = read<Workspace>(WORKSPACES);
  const isReady = mount?.status?.phase === "Ready" && child?.status?.phase === "Ready";
  const { conditions = [], phase } = mount?.status ?? {};
  // The server tries again, but only the user can do something about the reason.
  const problem =
    isReady || phase === "Initializing"
      ? undefined
      : conditions.find(({ type, status }) => type === "Reachable" && status === "False");
  const words = texts.mountDialog;
  return (
    <div class="made">
      <Progress
        // The problem is said above.
        conditions={conditions.filter(({ message }) => problem === undefined || message !== problem.message)}
        isDone={isReady}
        problem={problem && problemText(problem, host)}
        waiting={words.waiting}
        done={words.done(name)}
      >
        <p>
          {words.mount}: <Phase phase={mount?.status?.phase} /> {words.workspace}:{" "}
          <Phase phase={child === undefined ? undefined : phaseOf(child)} />
        </p>
        {problem !== undefined && <Remedies {...{ workspace, name, onClose, onCorrect }} />}
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

/** Reason and message of a condition. A target that does not answer is named, since the message is that of the network. */
function problemText({ reason = "", message = "" }: Condition, host: string): string {
  return texts.mountDialog.problem(reason, reason === "Unreachable" ? `${host}: ${message}` : message);
}
