import { isApiError, quote } from "@virtual-workspaces/apimachinery";
import { type Client, terminal } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import type { ConditionState } from "@virtual-workspaces/kcp/conditions";
import { EXTERNAL_NAME_ANNOTATION, SPACE_FINALIZER } from "../kinds/names.ts";
import { Space } from "../kinds/space.ts";
import type { PhysicalSpace } from "../provider/provider.ts";
import { ProviderBusy, type ProviderCalls } from "../provider/provider-calls.ts";
import type { ProviderReflector } from "../provider/provider-reflector.ts";
import { type AccessSecrets, SecretTaken } from "./access-secrets.ts";
import { isHeld, type PhysicalSpaceKey } from "./listers.ts";
import {
  hasAccess,
  isProvided,
  noAccess,
  notKnown,
  notProvided,
  type SpaceOutcome,
  staleAccess,
} from "./space-status.ts";
import type { Reason, Row, Step } from "./table.ts";

/** What is behind a Space, with how it is reached. */
export interface ProvidedSpace {
  readonly key: PhysicalSpaceKey;
  readonly calls: ProviderCalls | undefined;
  readonly reflector: ProviderReflector | undefined;
  readonly space: PhysicalSpace | undefined;
}

/** How soon it is looked again whether something is gone that was deleted, ms: its provider may say so before. */
const GONE = 2_000;

/** What has come of it. */
interface StepsResult {
  /** As it is now; `undefined`: it is gone, or about to be. */
  readonly space: Space | undefined;
  readonly outcome: SpaceOutcome;
  readonly error?: unknown;
  /** ms */
  readonly requeueAfter?: number;
}

interface SpaceStepsOptions {
  readonly space: Space;
  readonly found: ProvidedSpace;
  readonly row: Row;
  readonly signal: AbortSignal;
}

/** What the table says of one Space, being done. */
export class SpaceSteps {
  readonly #client: Client;
  readonly #access: AccessSecrets;
  readonly #found: ProvidedSpace;
  readonly #row: Row;
  readonly #signal: AbortSignal;
  #space: Space;
  #outcome: SpaceOutcome;

  constructor(client: Client, access: AccessSecrets, { space, found, row, signal }: SpaceStepsOptions) {
    this.#client = client;
    this.#access = access;
    this.#found = found;
    this.#row = row;
    this.#signal = signal;
    this.#space = space;
    const id = found.space === undefined ? undefined : (found.space.id ?? found.space.name);
    this.#outcome = { phase: row.phase, provided: providedBy(row.reason, found), id };
  }

  async run(): Promise<StepsResult> {
    for (const step of this.#row.steps) {
      try {
        const stopped = await this.#runStep(step);
        if (stopped !== undefined) return stopped;
      } catch (error) {
        if (isApiError(error) && error.code === 409 && !AT_PROVIDER.includes(step)) throw error;
        // The object has gone meanwhile: nothing may be made for it any more.
        if (isApiError(error) && error.code === 404 && (step === "hold" || step === "release"))
          return { space: undefined, outcome: this.#outcome };
        return this.#failed(step, error);
      }
    }
    const isGone = this.#row.reason === "Gone" || this.#row.steps.includes("drop") || this.#row.reason === "Deleting";
    return { space: isGone ? undefined : this.#space, outcome: this.#outcome };
  }

  /** @returns why the next steps are not done yet */
  async #runStep(step: Step): Promise<StepsResult | undefined> {
    const { key, calls } = this.#found;
    const { name = "", namespace = "", uid = "" } = this.#space.metadata;
    const call = { parent: key.parent, signal: this.#signal };
    switch (step) {
      case "hold":
        await this.#setFinalizers((before) => [...before, SPACE_FINALIZER]);
        return undefined;
      case "release":
        await this.#setFinalizers((before) => before.filter((one) => one !== SPACE_FINALIZER));
        return undefined;
      case "create":
        return this.#create();
      case "remove":
        return this.#remove();
      case "publish": {
        const { id = "", accessVersion = "" } = this.#found.space ?? {};
        const references = await this.#access.publish(this.#space, {
          version: `${id}/${accessVersion}`,
          ask: () => (calls === undefined ? Promise.reject(notOpen(key)) : calls.access(key.name, call)),
          signal: this.#signal,
        });
        this.#outcome = { ...this.#outcome, references, access: hasAccess };
        await this.#annotateExternalName();
        return undefined;
      }
      case "withdraw": {
        await this.#access.withdraw(this.#space, this.#signal);
        const access = noAccess("Withdrawn", "there is nothing to reach", "Info");
        this.#outcome = { ...this.#outcome, references: {}, access };
        return undefined;
      }
      case "drop":
        await this.#client
          .resource(Space)
          .in(namespace)
          .delete(name, { signal: this.#signal, preconditions: { uid } })
          .catch(onCode<unknown>(404, () => undefined));
        return undefined;
    }
  }

  /** Not in the place of one that has been there. */
  async #create(): Promise<StepsResult> {
    const { key, calls, reflector } = this.#found;
    if (calls === undefined) throw notOpen(key);
    if (!calls.canCreate)
      throw terminal(`its provider ${quote(key.provider)} makes no spaces: set spec.Type to unmanaged`);
    const own = await this.#readOwn();
    if (own === undefined || own.status?.spaceID !== undefined) return { space: undefined, outcome: this.#outcome };
    await calls.create(key.name, { parent: key.parent, signal: this.#signal });
    await reflector?.refresh(key.name, this.#signal);
    return { space: this.#space, outcome: this.#outcome, requeueAfter: GONE };
  }

  /** Not what somebody has made in the place of one that is gone. */
  async #remove(): Promise<StepsResult | undefined> {
    const { key, calls, reflector } = this.#found;
    if (calls === undefined || reflector === undefined) throw notOpen(key);
    if (!calls.canDelete)
      throw terminal(`its provider ${quote(key.provider)} deletes no spaces: set spec.Type to unmanaged`);
    const own = await this.#readOwn();
    if (own === undefined) return { space: undefined, outcome: this.#outcome };
    const there = await reflector.refresh(key.name, this.#signal);
    const { spaceID = key.name } = own.status ?? {};
    // Its name is what is noted of one whose provider had not said yet which it is.
    const isKnown = there?.id !== undefined && spaceID !== key.name;
    if (isKnown && there.id !== spaceID) return undefined;
    await calls.delete(key.name, { parent: key.parent, signal: this.#signal });
    if ((await reflector.refresh(key.name, this.#signal)) === undefined) return undefined;
    return { space: this.#space, outcome: this.#outcome, requeueAfter: GONE };
  }

  /** The object as it is now, while it holds what is behind it: what is known of it may be late, and a provider is told nothing by that. */
  async #readOwn(): Promise<Space | undefined> {
    const { name = "", namespace = "", uid } = this.#space.metadata;
    const spaces = this.#client.resource(Space).in(namespace);
    const own = await spaces.get(name, { signal: this.#signal }).catch(onCode(404, () => undefined));
    return own !== undefined && own.metadata.uid === uid && isHeld(own) ? own : undefined;
  }

  /** Clients find it by what its provider calls it. */
  async #annotateExternalName(): Promise<void> {
    const { externalName } = this.#found.space ?? {};
    const { name = "", namespace = "", resourceVersion = "", annotations = {} } = this.#space.metadata;
    if (externalName === undefined || annotations[EXTERNAL_NAME_ANNOTATION] === externalName) return;
    const metadata = { resourceVersion, annotations: { [EXTERNAL_NAME_ANNOTATION]: externalName } };
    this.#space = await this.#client
      .resource(Space)
      .in(namespace)
      .mergePatch(name, { metadata }, { signal: this.#signal });
  }

  async #setFinalizers(changed: (before: readonly string[]) => readonly string[]): Promise<void> {
    const { name = "", namespace = "", resourceVersion = "", finalizers: before = [] } = this.#space.metadata;
    if (isHeld(this.#space) === changed([]).includes(SPACE_FINALIZER)) return;
    const finalizers = [...changed(before)];
    const patch = { metadata: { resourceVersion, finalizers } };
    this.#space = await this.#client.resource(Space).in(namespace).mergePatch(name, patch, { signal: this.#signal });
  }

  #failed(step: Step, error: unknown): StepsResult {
    if (error instanceof ProviderBusy)
      return { space: undefined, outcome: this.#outcome, requeueAfter: error.retryAfter };
    const message = error instanceof Error ? error.message : String(error);
    const [reason, severity] = FAILURES[step] ?? ["Failed", "Error"];
    const isAccess = step === "publish" || step === "withdraw";
    const outcome: SpaceOutcome = isAccess
      ? { ...this.#outcome, ...this.#withoutAccess(reason, error, message) }
      : { ...this.#outcome, provided: notProvided(reason, message, severity) };
    return { space: this.#space, outcome, error };
  }

  /** What the Secrets of a space that is ready say may be good for some time still. */
  #withoutAccess(reason: string, error: unknown, message: string): Pick<SpaceOutcome, "phase" | "access"> {
    if (error instanceof SecretTaken) return { phase: "NotReady", access: noAccess("SecretTaken", message) };
    const { Phase, inClusterSecretRef, externalSecretRef } = this.#space.status ?? {};
    const isThere = Phase === "Ready" && (inClusterSecretRef ?? externalSecretRef) !== undefined;
    if (isThere) return { phase: "keep", access: staleAccess(message) };
    return { phase: "NotReady", access: noAccess(reason, message) };
  }
}

/** What a provider does, whose conflicts are its own. */
const AT_PROVIDER: readonly Step[] = ["create", "remove"];

/** What is said of a step that has failed, and is tried again. */
const FAILURES: Partial<Record<Step, readonly [string, "Info" | "Error"]>> = {
  create: ["CreateFailed", "Error"],
  remove: ["DeleteFailed", "Error"],
  publish: ["AccessFailed", "Error"],
  withdraw: ["AccessFailed", "Error"],
};

const notOpen = ({ provider }: PhysicalSpaceKey): Error =>
  new Error(`its provider ${quote(provider)} cannot be asked: its SpaceProviderDesc says why`);

function providedBy(reason: Reason, { key, reflector, space }: ProvidedSpace): ConditionState {
  const provider = quote(key.provider);
  const state = reflector?.state;
  if (reason !== "ProviderNotFound" && state?.status === "unreachable" && reason !== "Deleting")
    return notKnown("ProviderUnreachable", `its provider ${provider} cannot be asked: ${state.error.message}`);
  switch (reason) {
    case "Ready":
      return isProvided;
    case "Unknown":
      return notKnown("Unknown", `its provider ${provider} has not said yet which spaces it has`);
    case "Creating":
    case "Initializing":
      return notProvided(reason, space?.message ?? "its provider makes it", "Info");
    case "NotReady":
      return notProvided(reason, space?.message ?? "its provider says that it is not ready any more");
    case "Vanished":
      return notProvided(
        reason,
        `its provider ${provider} does not have it any more, and not by this Space: delete the Space, and make another if there is to be one`,
      );
    case "NotFound":
      return notProvided(reason, `its provider ${provider} has no space of this name: spec.Type managed has it made`);
    case "ProviderNotFound":
      return notProvided(
        reason,
        `spec.SpaceProviderDescName: there is no SpaceProviderDesc ${provider}: make it; to give up what is behind this Space take the finalizer ${SPACE_FINALIZER} off`,
      );
    default:
      return notProvided("Deleting", "its provider deletes it", "Info");
  }
}
