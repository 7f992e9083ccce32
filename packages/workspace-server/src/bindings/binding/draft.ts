import type { APIBinding } from "@virtual-workspaces/kcp";
import {
  type Condition,
  type ConditionSeverity,
  getCondition,
  isConditionTrue,
  markFalse,
  markTrue,
  READY_CONDITION,
  setCondition,
} from "@virtual-workspaces/kcp/conditions";

type Status = NonNullable<APIBinding["status"]>;
type Bound = NonNullable<Status["boundResources"]>[number];

/** Severity, reason and message of a condition that is false. */
export type ConditionReason = readonly [severity: ConditionSeverity, reason: string, message: string];

/** Condition types of APIBindings. */
export const EXPORT_VALID = "APIExportValid";
export const INITIAL_BINDING = "InitialBindingCompleted";
export const UP_TO_DATE = "BindingUpToDate";
export const CLAIMS_VALID = "PermissionClaimsValid";
export const CLAIMS_APPLIED = "PermissionClaimsApplied";

/** Status of a binding during a pass; it is written once, at the end. */
export class StatusDraft {
  readonly #now: Date;
  #status: Status;

  constructor({ status }: APIBinding, now: Date) {
    this.#status = structuredClone(status ?? {});
    this.#now = now;
  }

  get status(): Status {
    return this.#status;
  }

  get conditions(): readonly Condition[] {
    return (this.#status.conditions ?? []) as Condition[];
  }

  is(type: string): boolean {
    return isConditionTrue(this.conditions, type);
  }

  set(fields: Partial<Status>): void {
    this.#status = { ...this.#status, ...fields };
  }

  /** Sets the applied claims; an empty list removes the field. */
  applied(claims: NonNullable<Status["appliedPermissionClaims"]>): void {
    const { appliedPermissionClaims: _before, ...others } = this.#status;
    this.#status = { ...others, ...(claims.length > 0 && { appliedPermissionClaims: claims }) };
  }

  holds(type: string): void {
    this.#conditions(markTrue(this.conditions, type, this.#now));
  }

  fails(type: string, [severity, reason, message]: ConditionReason): void {
    this.#conditions(markFalse(this.conditions, { type, severity, reason, message }, this.#now));
  }

  /** Marks the binding as not up to date. The initial binding, once completed, stays completed. */
  lags(because: ConditionReason): void {
    this.fails(UP_TO_DATE, because);
    if (!this.is(INITIAL_BINDING)) this.fails(INITIAL_BINDING, because);
  }

  /** Adds a bound resource, or replaces the entry of that resource. */
  bound(resource: Bound): void {
    const { boundResources = [] } = this.#status;
    const at = boundResources.findIndex(
      ({ group, resource: name }) => group === resource.group && name === resource.resource,
    );
    const before = boundResources[at];
    if (before === undefined) {
      this.set({ boundResources: [...boundResources, resource] });
      return;
    }
    const storageVersions = [
      ...new Set([...(before.storageVersions ?? []), ...(resource.storageVersions ?? [])]),
    ].sort();
    const next = storageVersions.length === 0 ? resource : { ...resource, storageVersions };
    this.set({ boundResources: boundResources.with(at, next) });
  }

  /** Sets the Ready condition to that of the initial binding. */
  copyReady(): void {
    const initial = getCondition(this.conditions, INITIAL_BINDING);
    if (initial !== undefined)
      this.#conditions(setCondition(this.conditions, { ...initial, type: READY_CONDITION }, this.#now));
  }

  #conditions(conditions: Condition[]): void {
    this.set({ conditions: conditions as NonNullable<Status["conditions"]> });
  }
}
