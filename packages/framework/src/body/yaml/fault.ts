// Separate from the YAML code, whose library is loaded with the first body that needs it.

/** Error for nesting beyond JSON's limit or the parser's stack. */
export const TOO_DEEP = "yaml: nested too deeply";

/** Error for malformed YAML, or YAML that is too large after alias expansion. */
export class YamlFault extends Error {
  readonly tooLarge: boolean;

  constructor(message: string, tooLarge = false) {
    super(message);
    this.tooLarge = tooLarge;
  }
}
