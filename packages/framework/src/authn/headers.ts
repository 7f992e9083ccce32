const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A header value as its sender meant it: its bytes are UTF-8, and Node gives each as a character of its own. `undefined`: they are not. */
export function utf8(value: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is ASCII stays as it is
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  try {
    return decoder.decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined;
  }
}

/** Every line of a header in order, whichever way Node has joined them. @param name in lower case @param rawHeaders as they came */
export function headerLines(rawHeaders: readonly string[], name: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name)
      lines.push(rawHeaders[at + 1] as string);
  return lines;
}
