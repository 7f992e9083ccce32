// Apart from what reads YAML, whose library is loaded by the first body that needs it.

/** Deeper than JSON may be, or than the parser's stack. */
export const TOO_DEEP = "yaml: nested too deeply";

/** Why a YAML text was not read: it is malformed, or too large once its aliases are expanded. */
export class YamlFault extends Error {
  readonly tooLarge: boolean;

  constructor(message: string, tooLarge = false) {
    super(message);
    this.tooLarge = tooLarge;
  }
}
