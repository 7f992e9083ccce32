import { isDeepStrictEqual } from "node:util";
import { quote } from "@virtual-workspaces/apimachinery";
import type { ResourceClient } from "@virtual-workspaces/client";
import { type Holds, MOUNT_READY_CONDITION, type Workspace, type WorkspaceStatus } from "@virtual-workspaces/kcp";
import { type Condition, type ConditionState, setCondition } from "@virtual-workspaces/kcp/conditions";
import { IS_MOUNT_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { type FoundMount, type MountObject, type MountReference, urlProblem } from "./mount-object.ts";

/** What becomes of a Workspace by what its mount object says. */
export interface Verdict {
  readonly condition: ConditionState;
  /** Where it leads. @default where it led before */
  readonly url?: string;
}

/** What is asked of mount objects. */
export interface VerdictOptions {
  /** Whether they have to say that they are mounts. */
  readonly requireAnnotation: boolean;
}

/** What a Workspace says of what was found, in kcp's words where kcp has any. */
export function verdictOf(ref: MountReference, found: FoundMount, options: VerdictOptions): Verdict {
  if (found.kind === "object") return ofObject(ref, found, options);
  // As Go prints a NamespacedName: with the slash, also where there is no namespace.
  const missing = `${ref.kind} ${quote(`${ref.namespace ?? ""}/${ref.name}`)} not found`;
  if (found.kind === "missing") return { condition: wrong("MountObjectNotFound", missing) };
  const why =
    found.kind === "invalid"
      ? `${found.message}; spec.mount cannot be changed: make the workspace anew`
      : `there is no kind ${ref.kind} of ${ref.apiVersion} here: install its CustomResourceDefinition, or bind the APIExport that has it`;
  return { condition: wrong("MountObjectNotFound", `${missing}: ${why}`) };
}

function ofObject(ref: MountReference, object: MountObject, { requireAnnotation }: VerdictOptions): Verdict {
  const { phase, url, isMarked } = object;
  const problem = urlProblem(url);
  const led = problem === undefined && url !== undefined ? { url } : {};
  const called = `${ref.kind} ${quote(ref.name)}`;
  const notReady = (message: string): ConditionState => wrong("MountObjectNotReady", message);
  if (requireAnnotation && !isMarked)
    return { condition: notReady(`${called} is no mount: it needs the annotation ${IS_MOUNT_ANNOTATION}: "true"`) };
  if (phase !== "Ready")
    return {
      ...led,
      condition: notReady(`Mount is not reporting ready. See ${called} status for more details`),
    };
  if (problem !== undefined)
    return {
      condition: notReady(`${called} is Ready, but ${problem}: set it to where its API is, as https://host/path`),
    };
  // kcp says nothing with True, and does not look for the annotation that its documents ask for.
  const message = `${called} has no annotation ${IS_MOUNT_ANNOTATION}: "true", and is taken without it`;
  return { ...led, condition: { type: MOUNT_READY_CONDITION, status: "True", ...(!isMarked && { message }) } };
}

function wrong(reason: "MountObjectNotFound" | "MountObjectNotReady", message: string): ConditionState {
  return { type: MOUNT_READY_CONDITION, status: "False", severity: "Error", reason, message };
}

type Workspaces = ResourceClient<Holds<typeof Workspace>>;

/** With what a Workspace is written. */
interface WriteTools {
  readonly workspaces: Workspaces;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * Makes a Workspace say what becomes of it, if it does not yet: that it is ready after where it leads, and that it is not before
 * that. So nobody sees one that is Ready and leads nowhere, or that leads to what is not ready and says otherwise.
 *
 * @throws ApiError 409 when it has changed since it was read
 */
export async function write(workspace: Workspace, verdict: Verdict, tools: WriteTools): Promise<void> {
  if (verdict.condition.status === "True") await writeStatus(await writeURL(workspace, verdict, tools), verdict, tools);
  else await writeURL(await writeStatus(workspace, verdict, tools), verdict, tools);
}

async function writeURL(
  workspace: Workspace,
  { url }: Verdict,
  { workspaces, signal }: WriteTools,
): Promise<Workspace> {
  const { name = "", resourceVersion } = workspace.metadata;
  if (url === undefined || url === workspace.spec.URL) return workspace;
  return workspaces.mergePatch(name, { metadata: { resourceVersion }, spec: { URL: url } }, { signal });
}

async function writeStatus(
  workspace: Workspace,
  { condition }: Verdict,
  { workspaces, now, signal }: WriteTools,
): Promise<Workspace> {
  const { name = "", resourceVersion } = workspace.metadata;
  const { status = {} } = workspace;
  const conditions = setCondition(status.conditions, condition, now);
  const phase = phaseOf(status, conditions);
  if (phase === status.phase && isDeepStrictEqual(conditions, status.conditions)) return workspace;
  const next = { conditions: [...conditions], ...(phase !== undefined && { phase }) };
  return workspaces.status.mergePatch(name, { metadata: { resourceVersion }, status: next }, { signal });
}

/**
 * Ready once nothing is wrong. That one is Unavailable says the controller of all workspaces (kcp's too), which would take back a
 * Ready beside another condition that does not hold, again and again.
 */
function phaseOf({ phase }: WorkspaceStatus, conditions: readonly Condition[]): WorkspaceStatus["phase"] {
  if (phase === "Terminating" || phase === "Deleting") return phase;
  return conditions.some(({ type, status }) => type.startsWith("Workspace") && status === "False") ? phase : "Ready";
}
