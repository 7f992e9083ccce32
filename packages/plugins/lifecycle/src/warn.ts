/** Where nobody is told of what goes wrong, the process is. */
export function warn(error: unknown): void {
  process.emitWarning(`view of workspaces that begin or end: ${String(error)}`);
}
