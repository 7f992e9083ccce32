import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Csv from "csv-parse/sync";
import { authenticatedUser } from "../request/user.ts";
import { bearerTokens, type TokenAuthenticator, type TokenVerdict } from "./bearer-tokens.ts";

/**
 * Bearer tokens of a file in the form that kcp's and Kubernetes' `--token-auth-file` take: on each line the token, the
 * user's name, the uid and, if there are any, the groups as one quoted column: `secret,alice,1,"admins,staff"`. Read once.
 * Anyone who can read the file is everybody in it.
 *
 * @throws Error when the file cannot be read, or a line is none such; the message names the line and never a token
 */
export function tokenFile(path: string): TokenAuthenticator {
  const verdicts = new Map<string, TokenVerdict>();
  for (const { record, line } of records(path)) {
    const [token = "", name = "", uid = "", groups = ""] = record;
    if (record.length < 3 || token === "" || name === "")
      throw new Error(`${path}, line ${line}: write token,user,uid or token,user,uid,"group1,group2"`);
    if (verdicts.has(token)) throw new Error(`${path}, line ${line}: this token stands in the file before`);
    const user = authenticatedUser({ name, uid, groups: groups.split(",").filter((group) => group !== "") });
    verdicts.set(token, { user });
  }
  return bearerTokens({ name: "token file", verify: (token) => verdicts.get(token), remember: 0 });
}

interface Line {
  readonly record: readonly string[];
  readonly line: number;
}

function records(path: string): readonly Line[] {
  const { parse } = createRequire(import.meta.url)("csv-parse/sync") as typeof Csv;
  try {
    const found = parse(readFileSync(path), {
      bom: true,
      record_delimiter: ["\r\n", "\n"],
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    });
    return (found as unknown as readonly { record: string[]; info: { lines: number } }[]).map(({ record, info }) => ({
      record,
      line: info.lines,
    }));
  } catch (error) {
    // What the parser says quotes the file.
    const { lines } = error as { readonly lines?: number };
    if (lines === undefined) throw error;
    throw new Error(
      `${path}, line ${lines}: this is no CSV: quotes stand around a whole column, and are doubled inside`,
    );
  }
}
