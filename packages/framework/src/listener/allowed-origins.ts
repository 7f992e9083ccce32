import { quote } from "@virtual-workspaces/apimachinery";
import { linearPattern } from "../cel/values/pattern.ts";

/** Origins that no operator means: an expression that matches one of them matches every host. */
const STRANGE = ["https://a.invalid", "http://b.invalid:1"] as const;

/** Origins of browser pages that may use a server: regular expressions, as kube-apiserver's `--cors-allowed-origins`. */
export class AllowedOrigins {
  readonly #expressions: readonly ((origin: string) => boolean)[];

  /** @throws Error on an invalid expression, one that is not anchored at both ends of the host, and one that matches every host */
  constructor(expressions: readonly string[]) {
    this.#expressions = expressions.map(compiled);
  }

  /** Returns whether pages of an origin, such as `https://console.example.com`, are allowed. */
  has(origin: string): boolean {
    return this.#expressions.some((matches) => matches(origin));
  }
}

function compiled(text: string): (origin: string) => boolean {
  const wrong = (why: string): Error =>
    new Error(`invalid allowed origin ${quote(text)}: ${why}, such as ^https://console\\.example\\.com$`);
  // Kubernetes' own check, against origins such as https://example.com.attacker.test.
  const isPinned = /\^|\/\//.test(text) && /[$:]/.test(text.replace("://", ""));
  if (!isPinned) throw wrong("anchor the regular expression at the start and the end of the host");
  let matches: (origin: string) => boolean;
  try {
    matches = linearPattern(text);
  } catch {
    throw wrong("it is no regular expression (RE2): correct it");
  }
  if (STRANGE.some(matches)) throw wrong("it matches every host: name the hosts of your pages");
  return matches;
}
