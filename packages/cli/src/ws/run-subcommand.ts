import module from "node:module";

/** Runs `kubectl ws` with these words. Nothing is loaded before Node is known to be new enough. */
export async function run(args: readonly string[]): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 19)) {
    process.stderr.write(
      `kubectl ws needs Node 22.19 or newer, and the node on the PATH is ${process.versions.node} (${process.execPath}): put a newer one before it\n`,
    );
    process.exitCode = 1;
    return;
  }
  module.enableCompileCache();
  const { main } = await import("./ws-main.ts");
  process.exitCode = await main(args);
}
