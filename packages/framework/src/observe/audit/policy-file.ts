import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Yaml from "yaml";

/** What a file of YAML or JSON says. @throws Error that names the file, and the line that is no YAML */
export function readPolicyFile(path: string): unknown {
  // Loaded when first needed: most servers read no YAML.
  const { parseDocument } = createRequire(import.meta.url)("yaml") as typeof Yaml;
  const document = parseDocument(readFileSync(path, "utf8"), { version: "1.1", prettyErrors: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw new Error(`audit policy: ${path}: ${problem.message}`);
  return document.toJS();
}
