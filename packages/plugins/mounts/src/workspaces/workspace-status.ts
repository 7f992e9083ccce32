import { isDeepStrictEqual } from "node:util";
import { quote } from "@virtual-workspaces/apimachinery";
import type { ResourceClient } from "@virtual-workspaces/client";
import { type Holds, MOUNT_READY_CONDITION, type Workspace, type WorkspaceStatus } from "@virtual-workspaces/kcp";
import { type Condition, type ConditionState, setCondition } from "@virtual-workspaces/kcp/conditions";
import { IS_MOUNT_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { type FoundMount, type MountObject, type MountReference, urlProblem } from "./mount-object.ts";

/** New state of a Workspace, by its mount object. */
export interface Verdict {
  readonly condition: ConditionState;
  /** New URL. @default the previous URL */
  readonly url?: string;
}

/** Requirements for mount objects. */
export interface VerdictOptions {
  /** Whether mount objects need the annotation. */
  readonly requireAnnotation: boolean;
}

/** Returns the new state of a Workspace, with kcp's messages where kcp has them. */
export function verdictOf(ref: MountReference, found: FoundMount, options: VerdictOptions): Verdict {
  if (found.kind === "object") return ofObject(ref, found, options);
  const missing = `${ref.kind} ${quote(ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name)} not found`;
  if (found.kind === "missing") return { condition: wrong("MountObjectNotFound", missing) };
  const why =
    found.kind === "invalid"
      ? `${found.message}; spec.mount cannot be changed: create the workspace again`
      : `kind ${ref.kind} of ${ref.apiVersion} is not served here: install its CustomResourceDefinition, or bind an APIExport with it`;
  return { condition: wrong("MountObjectNotFound", `${missing}: ${why}`) };
}

function ofObject(ref: MountReference, object: MountObject, { requireAnnotation }: VerdictOptions): Verdict {
  const { phase, url, isMarked } = object;
  const problem = urlProblem(url);
  const led = problem === undefined && url !== undefined ? { url } : {};
  const called = `${ref.kind} ${quote(ref.name)}`;
  const notReady = (message: string): ConditionState => wrong("MountObjectNotReady", message);
  if (requireAnnotation && !isMarked)
    return { condition: notReady(`${called} is not a mount: add the annotation ${IS_MOUNT_ANNOTATION}: "true"`) };
  if (phase !== "Ready")
    return {
      ...led,
      condition: notReady(`Mount is not reporting ready. See ${called} status for more details`),
    };
  if (problem !== undefined)
    return {
      condition: notReady(
        `${called} is Ready, but ${problem}: set it to the URL of its API, such as https://host/path`,
      ),
    };
  // kcp sets no message with True, and does not check the annotation that its documentation requires.
  const message = `${called} is mounted without the annotation ${IS_MOUNT_ANNOTATION}: "true"`;
  return { ...led, condition: { type: MOUNT_READY_CONDITION, status: "True", ...(!isMarked && { message }) } };
}

function wrong(reason: "MountObjectNotFound" | "MountObjectNotReady", message: string): ConditionState {
  return { type: MOUNT_READY_CONDITION, status: "False", severity: "Error", reason, message };
}

type Workspaces = ResourceClient<Holds<typeof Workspace>>;

/** Tools for writing a Workspace. */
interface WriteTools {
  readonly workspaces: Workspaces;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * Writes the new state of a Workspace if it differs: a URL before the condition becomes True, and a False condition before the URL.
 * Readers therefore never see a Ready Workspace without a usable URL.
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
 * Returns Ready without a False condition. Otherwise the controller of all workspaces, also kcp's, decides on Unavailable: it would
 * revert a Ready beside another False condition repeatedly.
 */
function phaseOf({ phase }: WorkspaceStatus, conditions: readonly Condition[]): WorkspaceStatus["phase"] {
  if (phase === "Terminating" || phase === "Deleting") return phase;
  return conditions.some(({ type, status }) => type.startsWith("Workspace") && status === "False") ? phase : "Ready";
}
