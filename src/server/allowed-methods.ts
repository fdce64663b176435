/** Which methods a path takes, so that one it does not take is told so (405) instead of being sent away (404). */
import type { FastifyInstance } from 'fastify';

interface Route {
  readonly pattern: RegExp;
  readonly methods: readonly string[];
}

const patternOf = (url: string): RegExp => {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${parts.join('/')}$`);
};

/** Notes the routes that are registered from now on. The answer gives the methods that a request's path takes; none for an unknown path. */
export const noteAllowedMethods = (app: FastifyInstance): ((url: string) => readonly string[]) => {
  const routes: Route[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ pattern: patternOf(url), methods: [method].flat() });
  });
  return (url) => {
    const path = url.split('?')[0] ?? '';
    return [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort();
  };
};
