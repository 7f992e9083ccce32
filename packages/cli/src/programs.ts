import { extname, join } from "node:path";

/** This program, for processes that are a part of it. */
export const BIN: string = join(import.meta.dirname, `bin${extname(import.meta.filename)}`);

/** What kubectl runs for `kubectl ws` and `kubectl create workspace`, by the names that it looks for. */
export const KUBECTL_PLUGINS: Readonly<Record<string, string>> = Object.fromEntries(
  ["kubectl-ws", "kubectl-create-workspace"].map((name) => [
    name,
    join(import.meta.dirname, `${name}${extname(import.meta.filename)}`),
  ]),
);
