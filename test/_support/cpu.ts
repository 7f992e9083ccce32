/** What this thread has computed so far, ms: other programs on the machine do not count, however busy it is. */
export function computed(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
