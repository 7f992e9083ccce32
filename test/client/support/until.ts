/** Resolves once a condition holds, looked at again and again. @throws with what it is about after 10 s */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`it never came to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
