import type { Seat } from "./seats.ts";
import { type Bounds, type Clock, partOf, type UserShare, WorkspaceShare } from "./seats.ts";

/** Requests that wait, and whose turn it is: of the virtual workspaces, then of their users, the one that has used least. */
export class FairQueue {
  readonly #clock: Clock = { now: 0 };
  readonly #waiters = new Set<WorkspaceShare>();
  readonly #workspaces = new Map<string, WorkspaceShare>();
  readonly #workspaceBounds: Bounds;
  readonly #userBounds: Bounds;
  #length = 0;

  constructor(bounds: Bounds, parts: { readonly perVirtualWorkspace: number; readonly perUser: number }) {
    this.#workspaceBounds = partOf(bounds, parts.perVirtualWorkspace);
    this.#userBounds = partOf(bounds, parts.perUser);
  }

  get length(): number {
    return this.#length;
  }

  share(workspace: string, user: string): UserShare {
    let share = this.#workspaces.get(workspace);
    if (share === undefined) {
      share = new WorkspaceShare(this.#workspaceBounds, this.#userBounds);
      this.#workspaces.set(workspace, share);
    }
    return share.user(user);
  }

  add(seat: Seat): void {
    const { share } = seat;
    const { workspace } = share;
    if (workspace.waiting === 0) workspace.join(this.#clock);
    if (share.waiting === 0) share.join(workspace.clock);
    this.#waiters.add(workspace);
    workspace.waiters.add(share);
    workspace.waiting += 1;
    share.waiting += 1;
    this.#length += 1;
    share.add(seat);
  }

  delete(seat: Seat): void {
    const { share } = seat;
    const { workspace } = share;
    if (!share.delete(seat)) return;
    this.#length -= 1;
    workspace.waiting -= 1;
    share.waiting -= 1;
    if (share.waiting === 0) workspace.waiters.delete(share);
    if (workspace.waiting === 0) this.#waiters.delete(workspace);
  }

  /** Takes out the one whose turn it is, if there is room for any. */
  next(mayWrite: boolean): Seat | undefined {
    let next: Seat | undefined;
    for (const workspace of this.#waiters) {
      if (next !== undefined && workspace.used >= next.share.workspace.used) continue;
      next = nextOf(workspace, mayWrite) ?? next;
    }
    if (next === undefined) return undefined;
    const { share } = next;
    this.delete(next);
    this.#clock.now = Math.max(this.#clock.now, share.workspace.used);
    share.workspace.clock.now = Math.max(share.workspace.clock.now, share.used);
    return next;
  }

  /** Adds to what a user and their virtual workspace have used. */
  charge({ share }: Seat, time: number): void {
    share.charge(time, share.workspace.clock);
    share.workspace.charge(time, this.#clock);
  }

  /** Who makes room for one more of `share`: the youngest of whoever waits with most, or nobody when that is `share` itself. */
  displacedBy(share: UserShare): Seat | undefined {
    const workspace = longest(this.#waiters, share.workspace);
    const user = longest(workspace.waiters, workspace === share.workspace ? share : undefined);
    return user === share ? undefined : user?.youngest();
  }

  *waiters(): Generator<Seat> {
    for (const { waiters } of this.#waiters) for (const user of waiters) yield* user.waiters();
  }
}

function nextOf(workspace: WorkspaceShare, mayWrite: boolean): Seat | undefined {
  if (!workspace.hasRoom(false)) return undefined;
  const writes = mayWrite && workspace.hasRoom(true);
  let next: Seat | undefined;
  for (const user of workspace.waiters) {
    if (next === undefined || user.used < next.share.used) next = user.next(writes) ?? next;
  }
  return next;
}

/** Whoever waits with most; `own` when they would then have as many as anybody. */
function longest<S extends { readonly waiting: number }, O extends S | undefined>(shares: Iterable<S>, own: O): S | O {
  let found: S | O = own;
  let most = own === undefined ? 0 : own.waiting + 1;
  for (const share of shares) {
    if (share.waiting > most) {
      found = share;
      most = share.waiting;
    }
  }
  return found;
}
