#!/usr/bin/env node
// `kubectl ws`: kubectl runs what is called kubectl-ws on the PATH. Nothing is loaded before the version is known to be enough.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `kubectl ws needs Node 22.19 or newer, and the node on the PATH is ${process.versions.node} (${process.execPath}): put a newer one before it\n`,
  );
  process.exitCode = 1;
} else {
  const { enableCompileCache } = await import("node:module");
  enableCompileCache();
  const { main } = await import("./ws/main.ts");
  process.exitCode = await main(process.argv.slice(2));
}
