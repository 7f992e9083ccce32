import { sleep, Upstream } from "@virtual-workspaces/transport";

/** Time limit for a test server to become ready, ms. */
const READY_WITHIN = 10_000;

/** Waits until `/readyz` passes. @throws Error that names the failed checks, after the limit in ms; 0 does not wait */
export async function untilReady(
  { url, ca }: { readonly url: string; readonly ca?: string | undefined },
  within: number = READY_WITHIN,
): Promise<void> {
  if (within === 0) return;
  await using upstream = new Upstream({ url, ...(ca !== undefined && { tls: { ca } }) });
  const deadline = performance.now() + within;
  for (;;) {
    const { status, body } = await upstream.send({ path: "/readyz?verbose" });
    if (status === 200) return;
    if (performance.now() >= deadline) {
      const failed = [...body.toString("utf8").matchAll(/^\[-\](\S+)/gm)].map(([, name = ""]) => name).join(", ");
      throw new Error(
        `the test server is not ready after ${within} ms, because of ${failed}: look at the ready hook of the view, or set readyWithin`,
      );
    }
    await sleep(10);
  }
}
