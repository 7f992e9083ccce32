// Why: a test that leaves a server, a socket or a timer open slows every later test, and hides a real leak. Mocha runs
// without --exit, and this module reports which file left which handle.
import { createHook } from "node:async_hooks";
import { Socket } from "node:net";

/** Kinds that keep the event loop alive only briefly, or belong to the process itself. */
const PASSING = new Set(["CloseReq", "Immediate", "TTYWrap"]);

const stacks = new Map<number, { readonly resource: { hasRef?(): boolean }; readonly stack: string }>();

/** Records where each handle was created, if TRACE_HANDLES=1 is set. Costly, so only on demand. */
export function traceHandles(): void {
  createHook({
    // biome-ignore lint/complexity/useMaxParams: the signature is Node's
    init(id, type, _trigger, resource: { hasRef?(): boolean }) {
      if (/^(Timeout|TCP|PIPE|PROCESS|FSEVENT|TLS)/.test(type))
        stacks.set(id, { resource, stack: `${type}${new Error().stack?.replace(/^.*\n.*\n/, "\n")}` });
    },
    destroy: (id) => void stacks.delete(id),
  }).enable();
}

/** Counts the resources that keep the process alive, by kind. */
export function activeHandles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (!PASSING.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Returns the kinds with more resources than in `before`, as "2 TCPSocketWrap", after `graceMs` for closing. */
export async function leftHandles(before: ReadonlyMap<string, number>, graceMs = 1000): Promise<string[]> {
  const deadline = performance.now() + graceMs;
  for (let pause = 1; ; pause = Math.min(2 * pause, 50)) {
    const left = [...activeHandles()].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)] as const);
    const more = left.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`);
    if (more.length === 0 || performance.now() > deadline) return more;
    await new Promise<void>((resolve) => void setTimeout(() => setImmediate(resolve), pause));
  }
}

/** Lists the details that Node provides: addresses of sockets, commands of children, and stacks if they are traced. */
export function describeHandles(): string {
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  const lines = handles
    .filter((handle) => !(handle instanceof Socket && "fd" in handle && isStdio(handle)))
    .map(describe);
  const traced = [...stacks.values()].filter(({ resource }) => resource.hasRef?.() !== false).map(({ stack }) => stack);
  const hint = stacks.size === 0 ? ["run again with TRACE_HANDLES=1 to see where each was made"] : [];
  const counts = [...activeHandles()].map(([kind, count]) => `${count} ${kind}`).join(", ");
  return [`active: ${counts}`, ...lines, ...traced, ...hint].join("\n");
}

function describe(handle: object): string {
  const name = handle.constructor.name;
  if (handle instanceof Socket)
    return `${name} ${handle.localAddress}:${handle.localPort} to ${handle.remoteAddress}:${handle.remotePort}`;
  if ("address" in handle && typeof handle.address === "function") return `${name} ${JSON.stringify(handle.address())}`;
  if ("spawnargs" in handle) return `${name} ${String(handle.spawnargs)}`;
  return name;
}

function isStdio(handle: Socket): boolean {
  return [process.stdin, process.stdout, process.stderr].some((stream) => (stream as unknown) === handle);
}
