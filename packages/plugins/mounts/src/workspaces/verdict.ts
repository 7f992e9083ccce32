import { quote } from "@virtual-workspaces/apimachinery";
import { type ConditionState, IS_MOUNT_ANNOTATION, MOUNT_READY_CONDITION } from "@virtual-workspaces/kcp";
import { type FoundMount, type MountObject, type MountReference, urlProblem } from "./contract.ts";

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
