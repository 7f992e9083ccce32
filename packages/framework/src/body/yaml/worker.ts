// Entry point of the YamlReader's worker threads.
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { answerMessages } from "../../util/worker/worker-answer.ts";
import { YamlFault } from "./fault.ts";
import { parseYaml } from "./parse.ts";

export interface YamlTask {
  readonly text: string;
  readonly maxBytes: number;
}

/** Result as JSON, which is parsed faster than a tree is copied between threads. */
export type YamlReply =
  | { readonly json: string; readonly duplicates: readonly string[] }
  | { readonly fault: string; readonly tooLarge: boolean };

answerMessages(({ text, maxBytes }: YamlTask): YamlReply => {
  try {
    const { value, duplicates } = parseYaml(text, maxBytes);
    return { json: stringifyJson(value), duplicates };
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    return { fault: error.message, tooLarge: error.tooLarge };
  }
});
