#include "plugins/sdk/service_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <string>

namespace halyard {
namespace {

bool blocks(int signal) {
  sigset_t mask;
  return pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0 && sigismember(&mask, signal) == 1;
}

TEST(ServiceThread, TakesNoSignals) {
  bool blocked = false;
  start_service_thread("halyard-test", [&] {
    blocked = blocks(SIGTERM) && blocks(SIGUSR1) && blocks(SIGALRM);
  }).join();
  EXPECT_TRUE(blocked);
}

// Vendors' libraries run on it, and the handlers of faults are the program's or the virtual GPU's.
TEST(ServiceThread, TakesTheSignalsOfItsOwnFaults) {
  bool blocked = true;
  start_service_thread("halyard-test", [&] {
    blocked =
        blocks(SIGSEGV) || blocks(SIGBUS) || blocks(SIGFPE) || blocks(SIGILL) || blocks(SIGTRAP);
  }).join();
  EXPECT_FALSE(blocked);
}

TEST(ServiceThread, LeavesTheCallersSignalsAlone) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigset_t before;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &one, &before), 0);
  start_service_thread("halyard-test", [] {}).join();
  EXPECT_TRUE(blocks(SIGUSR1));
  EXPECT_FALSE(blocks(SIGTERM));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ServiceThread, HasItsName) {
  char name[16] = {};
  start_service_thread("halyard-test", [&] {
    pthread_getname_np(pthread_self(), name, sizeof name);
  }).join();
  EXPECT_EQ(std::string(name), "halyard-test");
}

}  // namespace
}  // namespace halyard
