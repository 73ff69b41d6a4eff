/* Two ways to connect that no filter of connect(2) sees. Addresses in network order; what is given is 0 or -errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int one(int ring, char *rings, struct io_uring_params *p, struct io_uring_sqe *sqes, struct io_uring_sqe *wanted) {
    unsigned *tail = (unsigned *)(rings + p->sq_off.tail), mask = *(unsigned *)(rings + p->sq_off.ring_mask);
    unsigned at = *tail & mask;
    sqes[at] = *wanted;
    ((unsigned *)(rings + p->sq_off.array))[at] = at;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (syscall(__NR_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) < 0)
        return -errno;
    unsigned *head = (unsigned *)(rings + p->cq_off.head), cmask = *(unsigned *)(rings + p->cq_off.ring_mask);
    int result = ((struct io_uring_cqe *)(rings + p->cq_off.cqes))[*head & cmask].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return result;
}

int by_ring(uint32_t host, uint16_t port) {
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    int ring = syscall(__NR_io_uring_setup, 4, &p);
    if (ring < 0)
        return -errno;
    size_t sq = p.sq_off.array + p.sq_entries * 4, cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    char *rings = mmap(0, sq > cq ? sq : cq, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *sqes = mmap(0, p.sq_entries * sizeof *sqes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    if (rings == MAP_FAILED || sqes == MAP_FAILED || !(p.features & IORING_FEAT_SINGLE_MMAP))
        return -ENOSYS;
    struct io_uring_sqe wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.opcode = 45; /* IORING_OP_SOCKET, which older headers lack */
    wanted.fd = AF_INET;
    wanted.off = SOCK_STREAM;
    int made = one(ring, rings, &p, sqes, &wanted);
    if (made < 0)
        return made == -EINVAL ? -ENOSYS : made;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = host};
    memset(&wanted, 0, sizeof wanted);
    wanted.opcode = IORING_OP_CONNECT;
    wanted.fd = made;
    wanted.addr = (uintptr_t)&to;
    wanted.off = sizeof to;
    return one(ring, rings, &p, sqes, &wanted);
}

#ifdef __x86_64__
static int call32(int number, int a, int b, int c) {
    int result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
    return result;
}

int by_interrupt(uint32_t host, uint16_t port) {
    struct sockaddr_in *to = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (to == MAP_FAILED)
        return -ENOSYS;
    to->sin_family = AF_INET;
    to->sin_port = port;
    to->sin_addr.s_addr = host;
    int made = call32(359, AF_INET, SOCK_STREAM, 0); /* socket(2) of i386 */
    return made < 0 ? made : call32(362, made, (int)(uintptr_t)to, sizeof *to);
}
#else
int by_interrupt(uint32_t host, uint16_t port) { return -ENOSYS; }
#endif
